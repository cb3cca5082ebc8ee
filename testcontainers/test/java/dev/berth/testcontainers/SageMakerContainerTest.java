package dev.berth.testcontainers;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.nio.file.Path;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.testcontainers.DockerClientFactory;
import software.amazon.awssdk.auth.credentials.AnonymousCredentialsProvider;
import software.amazon.awssdk.core.SdkBytes;
import software.amazon.awssdk.regions.Region;
import software.amazon.awssdk.services.sagemakerruntime.SageMakerRuntimeClient;
import software.amazon.awssdk.services.sagemakerruntime.model.InvokeEndpointResponse;
import software.amazon.awssdk.services.sagemakerruntime.model.ModelErrorException;

/// AWS's SDK asks containers of this checkout's image. Without a Docker engine the tests are
/// skipped, unless REQUIRE_DOCKER=true.
class SageMakerContainerTest {

    private static final Path SAMPLE = Path.of("model-artifact");
    private static final String QUESTION = "{\"question\": \"Who came?\", \"context\": \"Bob came.\"}";

    @TempDir
    Path directory;

    @BeforeAll
    static void buildTheImage() throws Exception {
        boolean hasDocker = DockerClientFactory.instance().isDockerAvailable();
        assertThat(hasDocker || !"true".equals(System.getenv("REQUIRE_DOCKER"))).isTrue();
        assumeTrue(hasDocker, "a Docker engine");
        // In `mvn verify` the server's own tests have built it, and this takes a second.
        run("docker", "build", "-q", "-t", "berth-test", ".");
    }

    @Test
    void theSdkAsksTheModelOfAnArchive() throws Exception {
        var archive = directory.resolve("model.tar.gz");
        run("tar", "-czhf", archive.toString(), "-C", SAMPLE.toString(), ".");
        try (var model = new SageMakerContainer("berth-test").withModel(archive);
                var runtime = start(model)) {
            assertThat(model.runtimeEndpoint()).isEqualTo(model.containerEndpoint());
            assertThat(ask(runtime, QUESTION).body().asUtf8String()).contains("\"answer\":\"Bob\"");
        }
    }

    @Test
    void anImageWithoutEndpointsIsAskedTheSameWay() {
        try (var model = new SageMakerContainer("berth-test").withModel(SAMPLE).withEnv("BERTH_RUNTIME_API", "false");
                var runtime = start(model)) {
            assertThat(model.runtimeEndpoint()).isNotEqualTo(model.containerEndpoint());
            var answer = ask(runtime, QUESTION);
            assertThat(answer.body().asUtf8String()).contains("\"answer\":\"Bob\"");
            assertThat(answer.contentType()).startsWith("application/json");
            assertThatThrownBy(() -> ask(runtime, "\"\t\\"))
                    .isInstanceOfSatisfying(ModelErrorException.class, error -> {
                        assertThat(error.originalStatusCode()).isEqualTo(400);
                        assertThat(error.originalMessage()).contains("not JSON");
                    });
        }
    }

    @Test
    void aModelThatIsNotThereIsNamed() {
        try (var model = new SageMakerContainer("berth-test")) {
            var missing = directory.resolve("none");
            assertThatThrownBy(() -> model.withModel(missing))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContaining("found nothing at " + missing);
        }
    }

    private static SageMakerRuntimeClient start(SageMakerContainer model) {
        model.start();
        return SageMakerRuntimeClient.builder()
                .endpointOverride(model.runtimeEndpoint())
                .region(Region.US_EAST_1)
                .credentialsProvider(AnonymousCredentialsProvider.create())
                .build();
    }

    private static InvokeEndpointResponse ask(SageMakerRuntimeClient runtime, String body) {
        return runtime.invokeEndpoint(request -> request.endpointName("qa").body(SdkBytes.fromUtf8String(body)));
    }

    private static void run(String... command) throws IOException, InterruptedException {
        var builder = new ProcessBuilder(command).inheritIO();
        // Docker before version 23 builds with BuildKit only if it is told to.
        builder.environment().put("DOCKER_BUILDKIT", "1");
        assertThat(builder.start().waitFor()).isZero();
    }
}
