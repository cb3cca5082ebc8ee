package dev.berth;

import static dev.berth.testing.BerthImage.assertAnswers;
import static dev.berth.testing.BerthImage.err;
import static dev.berth.testing.BerthImage.exitCode;
import static dev.berth.testing.BerthImage.out;
import static dev.berth.testing.BerthImage.serving;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.berth.testing.BerthImage;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.testcontainers.containers.GenericContainer;
import org.testcontainers.images.builder.Transferable;

/// Containers of the image, restricted as SageMaker does it and as people do.
@Tag("packaged")
class ContainerTest {

    @BeforeAll
    static void buildTheImage() throws Exception {
        BerthImage.build();
    }

    @Test
    @Tag("RUN-02")
    @Tag("RUN-09")
    @Tag("RUN-10")
    void serveOnThePathListensOnTheGivenPortOnly() throws Exception {
        try (var container = serving()
                .withEnv(Map.of("SAGEMAKER_BIND_TO_PORT", "9123", "SAGEMAKER_SAFE_PORT_RANGE", "21000-21010"))
                .withCreateContainerCmdModifier(
                        cmd -> cmd.withEntrypoint("serve").withCmd(List.of()))) {
            container.start();
            assertAnswers(container, 9123, "Bob");
            // The fourth column is the state, 0A is listening; the second ends in the port: 23A3 is 9123.
            var listening = container.execInContainer(
                    "sh", "-c", "cat /proc/net/tcp /proc/net/tcp6 | awk '$4 == \"0A\" { print $2 }'");
            assertThat(listening.getStdout().lines()).singleElement().asString().endsWith(":23A3");
        }
    }

    /// The engine asks every 5 s.
    @Test
    void itsHealthCheckAsksTheConfiguredPort() throws Exception {
        try (var container = serving().withEnv("PORT", "7070")) {
            container.start();
            BerthImage.awaitReady(container, 7070);
            assertThat(container.execInContainer("serve", "health").getExitCode())
                    .isZero();
            var elsewhere = container.execInContainer("serve", "health", "--port", "7071");
            assertThat(elsewhere.getExitCode()).isEqualTo(1);
            assertThat(elsewhere.getStderr())
                    .startsWith("http://127.0.0.1:7071/ping: ")
                    .hasLineCount(1);
            await().atMost(BerthImage.LONGEST)
                    .until(() -> container
                            .getCurrentContainerInfo()
                            .getState()
                            .getHealth()
                            .getStatus()
                            .equals("healthy"));
        }
    }

    @Test
    void anArtifactIsBegunAndChecked() throws Exception {
        try (var container = serving()) {
            container.start();
            for (var command : List.of("init", "check")) {
                var done = container.execInContainer("/opt/berth/serve", command, "/tmp/my-hooks");
                assertThat(done.getExitCode()).as(done.getStderr()).isZero();
            }
        }
    }

    /// The image's Java has the modules that the client of S3 needs. The server here is no S3, so its answer is
    /// a 404: the request has got there.
    @Test
    void aJobReachesS3() throws Exception {
        try (var container = serving()) {
            container.start();
            BerthImage.awaitReady(container, 8080);
            var job = container.execInContainer(
                    "transform",
                    "--dry-run",
                    "--input=s3://bucket/key",
                    "--output=/tmp/answers",
                    "--content-type=text/csv",
                    "--no-sign-request",
                    "--endpoint-url=http://127.0.0.1:8080");
            assertThat(job.getStderr()).contains("s3://bucket/key: S3 refused (404)");
        }
    }

    @Test
    @Tag("RUN-16")
    void itServesWithoutANetwork() throws Exception {
        try (var container = serving().withNetworkMode("none")) {
            container.start();
            assertAnswers(container);
        }
    }

    @Test
    @Tag("RUN-17")
    @Tag("SLS-03")
    void itSizesItselfToItsMemoryAndProcessor() throws Exception {
        try (var container = serving()
                .withCreateContainerCmdModifier(cmd -> cmd.getHostConfig()
                        .withMemory(1L << 30)
                        .withMemorySwap(1L << 30)
                        .withNanoCPUs(1_000_000_000L))
                // With these the JVM has another collector than where the cache was made. It ends at
                // once if it can't use the cache.
                .withEnv("JAVA_OPTS", "-XX:AOTMode=on")) {
            container.start();
            assertAnswers(container);
            // 40 % of 1 GiB, of which the serial collector keeps a part to itself.
            await().untilAsserted(() -> assertThat(out(container))
                    .contains("1 processor")
                    .containsPattern("\\b(39|40)\\d MiB of heap")
                    .contains("ready: 1 worker"));
            assertThat(container.getCurrentContainerInfo().getState().getOOMKilled())
                    .isFalse();
        }
    }

    @Test
    void theJvmUsesItsCacheOrDoesWithoutAWord() throws Exception {
        try (var container = serving().withEnv("JAVA_OPTS", "-XX:AOTMode=on")) {
            container.start();
            assertAnswers(container);
        }
        try (var container = serving().withEnv("JAVA_OPTS", "-XX:+UseZGC")) {
            container.start();
            assertAnswers(container);
            assertThat(out(container).lines()).allMatch(line -> line.matches("\\d{4}-\\d\\d-\\d\\dT.*"));
            assertThat(err(container)).isEmpty();
        }
    }

    /// What kubelet gives a pod in a namespace with the Services of `deploy/kubernetes` and one for
    /// gRPC, unless `enableServiceLinks` is off. With these names, one is that of a setting.
    @Test
    void itIgnoresKubernetesServices() throws Exception {
        var container = serving();
        addService(container, "KUBERNETES", "10.96.0.1", "HTTPS", 443);
        addService(container, "BERTH", "10.96.10.5", "HTTP", 80);
        addService(container, "BERTH_GRPC", "10.96.10.7", "GRPC", 9000);
        try (container) {
            container.start();
            assertAnswers(container);
            assertThat(container.execInContainer("serve", "health").getExitCode())
                    .isZero();
            assertThat(container.getLogs()).doesNotContain("10.96.").doesNotContain("WARN");
        }
    }

    private static void addService(GenericContainer<?> pod, String service, String address, String name, int port) {
        var link = "%s_PORT_%d_TCP".formatted(service, port);
        var url = "tcp://%s:%d".formatted(address, port);
        pod.withEnv(service + "_SERVICE_HOST", address)
                .withEnv(service + "_SERVICE_PORT", String.valueOf(port))
                .withEnv(service + "_SERVICE_PORT_" + name, String.valueOf(port))
                .withEnv(service + "_PORT", url)
                .withEnv(link, url)
                .withEnv(link + "_PROTO", "tcp")
                .withEnv(link + "_PORT", String.valueOf(port))
                .withEnv(link + "_ADDR", address);
    }

    @Test
    @Tag("RUN-18")
    void itServesWhereSageMakersOwnFileIs() throws Exception {
        try (var container = serving()
                .withCopyToContainer(
                        Transferable.of(
                                "{\"EndpointArn\": \"arn:aws:sagemaker:eu-west-1:1:endpoint/x\", \"ResourceId\": \"i-1\"}"),
                        "/opt/ml/.sagemaker_infra/endpoint-metadata.json")) {
            container.start();
            assertAnswers(container);
        }
    }

    /// Docker mounts such a /tmp without the right to run anything from it. Without one, its shared
    /// memory can be written to.
    @ParameterizedTest
    @ValueSource(strings = {"", "/tmp"})
    @Tag("SLS-01")
    void itServesAnUnprivilegedUserOnAReadOnlyDisk(String writable) throws Exception {
        var onnx = BerthImage.buildForOnnx();
        for (var image : List.of(serving(), new GenericContainer<>(onnx))) {
            try (var container = image.withExposedPorts(8080)) {
                if (!writable.isEmpty()) {
                    container.withTmpFs(Map.of(writable, ""));
                }
                container.withCreateContainerCmdModifier(cmd -> {
                    cmd.withUser("12345");
                    cmd.getHostConfig().withReadonlyRootfs(true);
                });
                container.start();
                assertAnswers(container);
                assertThat(err(container)).isEmpty();
                assertThat(container.execInContainer("ls", "/tmp", "/dev/shm").getStdout())
                        .doesNotContain("onnx", "berth");
                if (writable.isEmpty()) {
                    var refused = BerthImage.send(container, 8080, "POST", "/invocations", "x".repeat(40 << 20));
                    assertThat(refused.statusCode()).as(refused.body()).isEqualTo(413);
                    assertThat(refused.body())
                            .contains("body: found more than 32 MB, expected at most half of the disk at /dev/shm");
                }
            }
        }
    }

    /// A directory that is there, but no libraries could be written to.
    @Test
    void whereOnnxHasNoDirectoryForTemporaryFilesItSaysWhichOneItNeeds() throws Exception {
        BerthImage.assertEnds(
                new GenericContainer<>(BerthImage.buildForOnnx())
                        .withEnv("JAVA_OPTS", "-Djava.io.tmpdir=/opt")
                        .withCreateContainerCmdModifier(
                                cmd -> cmd.getHostConfig().withReadonlyRootfs(true)),
                "; it needs a directory that can be written: mount one at /tmp, or name one with JAVA_OPTS=-Djava.io.tmpdir=DIR");
    }

    @Test
    void otherCommandsOfTheEntryPointAreArgumentsToo() throws Exception {
        try (var container = serving().withCommand("check")) {
            container.start();
            assertThat(exitCode(container)).isZero();
            await().untilAsserted(() ->
                    assertThat(out(container)).contains("minilm-qa").contains("checked against sample-response.json"));
        }
    }
}
