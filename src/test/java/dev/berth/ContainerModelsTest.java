package dev.berth;

import static dev.berth.testing.BerthImage.awaitReady;
import static dev.berth.testing.BerthImage.err;
import static dev.berth.testing.BerthImage.out;
import static dev.berth.testing.BerthImage.send;
import static dev.berth.testing.TestServer.assertStatus;
import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.ObjectMapper;
import dev.berth.testing.BerthImage;
import dev.berth.testing.CodeArtifact;
import dev.berth.testing.OnnxModel;
import dev.berth.testing.TestServer;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.testcontainers.containers.BindMode;
import org.testcontainers.containers.GenericContainer;
import org.testcontainers.containers.wait.strategy.Wait;

/// Containers of the image that hold many models, and several containers that share a network
/// namespace: the endpoints of SageMaker that the labels of the image allow.
@Tag("packaged")
class ContainerModelsTest {

    private static final ObjectMapper JSON = new ObjectMapper();

    /// A key as SageMaker makes them.
    private static final String MODEL = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef";

    /// Makes a question of each line `question? context`.
    private static final String ASKS = """
      public List<String> predictFn(List<String> records, Object model) {
        return records.stream().map(line -> line.split("(?<=[?]) ", 2)).map(parts ->
            "{\\"question\\": \\"%s\\", \\"context\\": \\"%s\\"}".formatted(parts[0], parts[1])).toList();
      }
      """;

    private static final int FIRST_PORT = 21000;
    private static final int SECOND_PORT = 21004;

    @TempDir
    private static Path directory;

    @BeforeAll
    static void buildTheImage() throws Exception {
        BerthImage.build();
    }

    /// SageMaker mounts each artifact below `/opt/ml/models` and asks from outside.
    @Test
    @Tag("MME-01")
    @Tag("MME-07")
    @Tag("MME-11")
    @Tag("MME-13")
    @Tag("PING-08")
    @Tag("RUN-12")
    void aContainerLoadsListsAsksAndUnloadsModels() throws Exception {
        var names = List.of(MODEL, "b", "c");
        var container = container().withEnv("SAGEMAKER_MULTI_MODEL", "true").withExposedPorts(8080);
        for (var name : names) {
            bind(container, TestServer.SAMPLE_ARTIFACT, "/opt/ml/models/%s/model".formatted(name));
        }
        try (container) {
            container.start();
            awaitReady(container, 8080);
            assertThat(container.getContainerInfo().getConfig().getLabels())
                    .containsEntry("com.amazonaws.sagemaker.capabilities.multi-models", "true");
            assertThat(send(container, 8080, "GET", "/models", "").body()).isEqualTo("{\"models\":[]}");

            for (var name : names) {
                var loaded = send(
                        container,
                        8080,
                        "POST",
                        "/models",
                        JSON.writeValueAsString(
                                Map.of("model_name", name, "url", "/opt/ml/models/%s/model".formatted(name))),
                        "Content-Type",
                        "application/json");
                assertThat(loaded.statusCode()).as(loaded.body()).isEqualTo(200);
                var answer = send(
                        container,
                        8080,
                        "POST",
                        "/models/%s/invoke".formatted(name),
                        BerthImage.BODY,
                        "Content-Type",
                        "application/json",
                        "Accept",
                        "application/json",
                        "X-Amzn-SageMaker-Custom-Attributes",
                        "trace=1",
                        "X-Amzn-SageMaker-Target-Model",
                        name + ".tar.gz");
                assertStatus(answer, 200, "\"answer\":\"Bob\"");
            }
            assertThat(pages(container)).containsExactly(List.of(MODEL, "b"), List.of("c"));

            long full = residentKilobytes(container);
            for (var name : names) {
                assertStatus(send(container, 8080, "DELETE", "/models/" + name, ""), 200);
                assertStatus(send(container, 8080, "POST", "/models/%s/invoke".formatted(name), BerthImage.BODY), 404);
            }
            // Three copies of 25 MB of weights, of which the process may keep some for the next model.
            assertThat(full - residentKilobytes(container))
                    .as("freed when the last DELETE answers")
                    .isGreaterThan(40_000);
            assertThat(send(container, 8080, "GET", "/ping", "").statusCode()).isEqualTo(200);
            assertThat(err(container)).isEmpty();
        }
    }

    /// Two containers on one network namespace: the platform asks each at its port, or gives the
    /// output of the first to the second.
    @Test
    @Tag("RUN-09")
    @Tag("RUN-10")
    void twoContainersServeBesideEachOtherDirectlyAndInARow() throws Exception {
        CodeArtifact.plain(directory, ASKS);
        var first = at(container(), FIRST_PORT).withExposedPorts(FIRST_PORT, SECOND_PORT);
        bind(first, directory, "/opt/ml/model");
        try (first) {
            first.start();
            var second = at(container(), SECOND_PORT).withNetworkMode("container:" + first.getContainerId());
            bind(second, TestServer.SAMPLE_ARTIFACT, "/opt/ml/model");
            // The ports of both are published by the container that has the namespace.
            try (second) {
                second.start();
                awaitReady(first, FIRST_PORT);
                awaitReady(second, SECOND_PORT);
                // No other port, neither in the safe range nor outside of it.
                assertThat(listeningPorts(first)).containsExactlyInAnyOrder(FIRST_PORT, SECOND_PORT);

                var direct = invoke(first, SECOND_PORT, BerthImage.BODY, "application/json", "application/json");
                assertThat(direct.body()).contains("\"answer\":\"Bob\"");

                var question = "Where was Marie Curie born? Marie Curie was born in Warsaw.";
                assertThat(inARow(first, question, "application/json")).contains("\"answer\":\"Warsaw\"");
                assertThat(inARow(first, question + "\nWho came? Bob came.", "application/jsonlines")
                                .lines())
                        .satisfiesExactly(
                                line -> assertThat(line).contains("\"answer\":\"Warsaw\""),
                                line -> assertThat(line).contains("\"answer\":\"Bob\""));

                // What the first says that it answers with, the second does not take.
                var text = invoke(first, FIRST_PORT, question, "text/plain", "text/plain");
                assertThat(contentType(text)).startsWith("text/plain");
                var refused = invoke(first, SECOND_PORT, text.body(), contentType(text), "application/json");
                assertStatus(refused, 415, "text/plain", "application/json");
            }
            assertThat(out(first)).doesNotContain("WARN");
        }
    }

    /// KServe's modelcars: artifacts, one with hooks that its sample needs, one with weights in a file beside
    /// the model, are in the root of another container.
    @ParameterizedTest
    @CsvSource({"models, code/Inference.java", "weights, files: model.onnx"})
    void anArtifactIsServedOutOfAnotherContainer(String artifact, String logged, @TempDir Path weights)
            throws Exception {
        OnnxModel.of("in x FLOAT n 2; MatMul x w -> y; out y FLOAT n 1")
                .weightsIn("w.bin", "w", 8, 2, 1)
                .write(weights.resolve("model.onnx"));
        Files.write(weights.resolve("w.bin"), new byte[8]);
        var car = new GenericContainer<>(BerthImage.NAME)
                .withCreateContainerCmdModifier(command -> command.withEntrypoint("busybox"))
                .withCommand("sleep", "3600");
        bind(car, Path.of("examples", "mnist"), "/models");
        bind(car, weights, "/weights");
        try (car) {
            car.start();
            try (var server = container()
                    .withEnv("BERTH_MODEL_DIR", "/proc/1/root/" + artifact)
                    .withCreateContainerCmdModifier(
                            command -> command.getHostConfig().withPidMode("container:" + car.getContainerId()))) {
                server.start();
                awaitReady(server, 8080);
                assertThat(out(server)).contains(logged);
            }
        }
    }

    /// As a serial pipeline: the body and its type go on to the next container.
    private static String inARow(GenericContainer<?> first, String body, String between) throws Exception {
        var asked = invoke(first, FIRST_PORT, body, "text/plain", between);
        assertThat(asked.statusCode()).as(asked.body()).isEqualTo(200);
        var answered = invoke(first, SECOND_PORT, asked.body(), contentType(asked), contentType(asked));
        assertThat(answered.statusCode()).as(answered.body()).isEqualTo(200);
        return answered.body();
    }

    private static GenericContainer<?> container() {
        return new GenericContainer<>(BerthImage.NAME)
                .withStartupTimeout(BerthImage.LONGEST)
                // What waits for ports would look for those of the other container too.
                .waitingFor(Wait.forLogMessage(".*listening on.*\\n", 1).withStartupTimeout(BerthImage.LONGEST))
                .withCommand("serve");
    }

    private static GenericContainer<?> at(GenericContainer<?> container, int port) {
        return container.withEnv(
                Map.of("SAGEMAKER_BIND_TO_PORT", String.valueOf(port), "SAGEMAKER_SAFE_PORT_RANGE", "21000-21010"));
    }

    private static void bind(GenericContainer<?> container, Path artifact, String path) {
        container.withFileSystemBind(artifact.toAbsolutePath().toString(), path, BindMode.READ_ONLY);
    }

    private static List<List<String>> pages(GenericContainer<?> container) throws Exception {
        var pages = new ArrayList<List<String>>();
        var query = "?limit=2";
        while (query != null) {
            var page = JSON.readTree(
                    send(container, 8080, "GET", "/models" + query, "").body());
            pages.add(page.findValuesAsText("modelName"));
            query = page.has("nextPageToken")
                    ? "?limit=2&next_page_token=" + page.get("nextPageToken").textValue()
                    : null;
        }
        return pages;
    }

    private static long residentKilobytes(GenericContainer<?> container) throws Exception {
        var status = container
                .execInContainer("sh", "-c", "awk '/^VmRSS:/ { print $2 }' /proc/1/status")
                .getStdout();
        return Long.parseLong(status.strip());
    }

    /// The fourth column is the state, 0A is listening. The second ends in the port.
    private static List<Integer> listeningPorts(GenericContainer<?> container) throws Exception {
        return container
                .execInContainer("sh", "-c", "cat /proc/net/tcp /proc/net/tcp6 | awk '$4 == \"0A\" { print $2 }'")
                .getStdout()
                .lines()
                .map(address -> Integer.parseInt(address.substring(address.indexOf(':') + 1), 16))
                .toList();
    }

    private static HttpResponse<String> invoke(
            GenericContainer<?> container, int port, String body, String contentType, String accept) {
        return send(container, port, "POST", "/invocations", body, "Content-Type", contentType, "Accept", accept);
    }

    private static String contentType(HttpResponse<String> response) {
        return response.headers().firstValue("Content-Type").orElseThrow();
    }
}
