package dev.berth.testing;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;
import static org.awaitility.Awaitility.await;

import com.github.dockerjava.api.DockerClient;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Stream;
import org.testcontainers.DockerClientFactory;
import org.testcontainers.containers.BindMode;
import org.testcontainers.containers.Container.ExecResult;
import org.testcontainers.containers.GenericContainer;
import org.testcontainers.containers.output.OutputFrame;
import org.testcontainers.containers.startupcheck.StartupCheckStrategy;

/// The image, built from this checkout as the README says, and its containers.
///
/// Requests are made inside a container, since some have no network, unless a test has its own way
/// in.
public final class BerthImage {

    public static final String NAME = "berth-test";

    /// A question that the sample model answers with `Bob`.
    public static final String BODY = "{\"question\": \"Who came?\", \"context\": \"Bob came.\"}";

    /// Some machines take a minute for what others do in two seconds.
    public static final Duration LONGEST = Duration.ofMinutes(5);

    private static final Path LOG = Path.of("target", "docker-build.log");

    private static final StartupCheckStrategy EVEN_IF_IT_HAS_ENDED = new StartupCheckStrategy() {
        @Override
        public StartupStatus checkStartupState(DockerClient client, String container) {
            return StartupStatus.SUCCESSFUL;
        }
    };

    private static final HttpClient CLIENT =
            HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();

    private static boolean built;

    private BerthImage() {}

    /// Builds the image, once for all tests, where a Docker engine answers.
    public static synchronized void build() throws IOException, InterruptedException {
        needsDocker();
        if (!built) {
            System.err.println("[berth] building the image, its log is " + LOG);
            Files.createDirectories(LOG.getParent());
            run(List.of("docker", "build", "-t", NAME, "."), LOG);
            built = true;
        }
    }

    /// Builds the variant for ONNX files, which takes nothing but a look where it is there.
    ///
    /// @return its name
    public static synchronized String buildForOnnx() throws IOException, InterruptedException {
        needsDocker();
        run(
                List.of("docker", "build", "--target", "onnx", "-t", NAME + "-onnx", "."),
                Path.of("target", "docker-build-onnx.log"));
        return NAME + "-onnx";
    }

    /// Skips the calling test, and says so, where no Docker engine answers; fails it if there has to
    /// be one.
    public static void needsDocker() {
        boolean available = DockerClientFactory.instance().isDockerAvailable();
        if ("true".equals(System.getenv("REQUIRE_DOCKER"))) {
            assertThat(available)
                    .as("a Docker engine, which REQUIRE_DOCKER=true asks for")
                    .isTrue();
        }
        if (!available) {
            System.err.println("[berth] NO DOCKER ENGINE ANSWERS: the image is neither built nor tested");
        }
        assumeThat(available).as("a Docker engine").isTrue();
    }

    /// A container that is told to serve the sample artifact; to be started.
    public static GenericContainer<?> serving() {
        return serving(TestServer.SAMPLE_ARTIFACT);
    }

    public static GenericContainer<?> serving(Path artifact) {
        return serving(NAME, artifact);
    }

    public static GenericContainer<?> serving(String image, Path artifact) {
        return new GenericContainer<>(image)
                .withFileSystemBind(artifact.toAbsolutePath().toString(), "/opt/ml/model", BindMode.READ_ONLY)
                .withStartupTimeout(LONGEST)
                .withCommand("serve");
    }

    /// Waits until `/ping` is 200, asks a question and compares the answer.
    public static void assertAnswers(GenericContainer<?> container) throws Exception {
        assertAnswers(container, 8080, "\"answer\":\"Bob\"");
    }

    public static void assertAnswers(GenericContainer<?> container, int port, String expected) throws Exception {
        awaitReady(container, port);
        assertThat(ask(container, port)).contains(expected);
    }

    public static void awaitReady(GenericContainer<?> container, int port) {
        await().atMost(LONGEST).until(() -> {
            assertThat(isRunning(container)).as(container.getLogs()).isTrue();
            return wget(container, uri(port, "/ping")).getExitCode() == 0;
        });
    }

    /// Asks from outside, at a port that the container exposes.
    ///
    /// @param headers name, value, name, value, …
    public static HttpResponse<String> send(
            GenericContainer<?> container, int port, String method, String path, String body, String... headers) {
        return sendAsync(container, port, method, path, body, headers).join();
    }

    public static CompletableFuture<HttpResponse<String>> sendAsync(
            GenericContainer<?> container, int port, String method, String path, String body, String... headers) {
        var uri = "http://%s:%d%s".formatted(container.getHost(), container.getMappedPort(port), path);
        var request = HttpRequest.newBuilder(URI.create(uri)).method(method, BodyPublishers.ofString(body));
        if (headers.length > 0) {
            request.headers(headers);
        }
        return CLIENT.sendAsync(request.build(), BodyHandlers.ofString());
    }

    private static String ask(GenericContainer<?> container, int port) throws IOException, InterruptedException {
        var answer = wget(
                container,
                "--header",
                "Content-Type: application/json",
                "--post-data",
                BODY,
                uri(port, "/invocations"));
        assertThat(answer.getExitCode()).as(answer.getStderr()).isZero();
        return answer.getStdout();
    }

    private static String uri(int port, String path) {
        return "http://127.0.0.1:%d%s".formatted(port, path);
    }

    /// Ends with 0 where the answer is 200, and prints its body.
    private static ExecResult wget(GenericContainer<?> container, String... arguments)
            throws IOException, InterruptedException {
        return container.execInContainer(
                Stream.concat(Stream.of("busybox", "wget", "-q", "-O", "-"), Arrays.stream(arguments))
                        .toArray(String[]::new));
    }

    /// Sends a signal to the server, which is process 1.
    public static void signal(GenericContainer<?> container, String name) {
        container
                .getDockerClient()
                .killContainerCmd(container.getContainerId())
                .withSignal(name)
                .exec();
    }

    /// Waits for the end and gives the exit code.
    public static int exitCode(GenericContainer<?> container) {
        await().atMost(LONGEST).until(() -> !isRunning(container));
        return container.getCurrentContainerInfo().getState().getExitCodeLong().intValue();
    }

    /// Starts a container and expects it to end by itself, with one line that says why.
    public static void assertEnds(GenericContainer<?> container, String problem) {
        try (container) {
            container.withStartupCheckStrategy(EVEN_IF_IT_HAS_ENDED).start();
            assertThat(exitCode(container)).isEqualTo(1);
            assertThat(err(container).lines()).singleElement().asString().contains(problem);
        }
    }

    /// Asked of the engine; Testcontainers takes a container that was started again for one that has
    /// ended.
    private static boolean isRunning(GenericContainer<?> container) {
        return container.getCurrentContainerInfo().getState().getRunning();
    }

    public static String err(GenericContainer<?> container) {
        return container.getLogs(OutputFrame.OutputType.STDERR);
    }

    public static String out(GenericContainer<?> container) {
        return container.getLogs(OutputFrame.OutputType.STDOUT);
    }

    /// Runs a command here, not in a container, and fails with what it printed.
    public static void run(List<String> command, Path log) throws IOException, InterruptedException {
        var builder = new ProcessBuilder(command).redirectErrorStream(true).redirectOutput(log.toFile());
        // Docker before version 23 builds with BuildKit only if it is told to.
        builder.environment().put("DOCKER_BUILDKIT", "1");
        int code = builder.start().waitFor();
        assertThat(code).as("%s%n%s", command, Files.readString(log)).isZero();
    }
}
