package dev.berth.command;

import static dev.berth.testing.TestServer.assertStatus;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.fasterxml.jackson.databind.ObjectMapper;
import dev.berth.testing.CodeArtifact;
import dev.berth.testing.ServeProcess;
import dev.berth.testing.TestServer;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/// `./serve` in a process of its own, from its start to its end.
@Tag("packaged")
class ServeTest {

    private static final ObjectMapper JSON = new ObjectMapper();

    /// A machine that does something else may need minutes for what takes seconds.
    private static final Map<String, String> PATIENT =
            Map.of("SAGEMAKER_MODEL_SERVER_TIMEOUT_SECONDS", "600", "BERTH_DRAIN_SECONDS", "600");

    private static final String BOB = "{\"question\": \"Who came?\", \"context\": \"Bob came.\"}";

    /// For tests that do not stop it.
    @AutoClose
    private static ServeProcess started;

    @BeforeAll
    static void start() throws IOException {
        started = ServeProcess.serve(PATIENT).awaitReady();
    }

    @Test
    @Tag("RUN-07")
    void arunningRequestIsAnsweredBeforeTheServerStops() throws Exception {
        try (var server = ServeProcess.serve(PATIENT).awaitReady()) {
            var context = "The sea was calm and the sky was grey that day. ".repeat(400);
            var long_ = JSON.writeValueAsString(Map.of("question", "How was the sea?", "context", context));
            var running = server.invokeAsync(long_);
            await().until(() ->
                    server.get("/metrics").body().contains("berth_queue_wait_seconds_count{model=\"model\"} 1"));
            server.terminate();
            assertThat(running.get().statusCode()).isEqualTo(200);
            assertThat(running.get().body()).contains("\"answer\":");
            assertThat(server.exitCode()).isZero();
        }
    }

    @Test
    @Tag("RUN-08")
    void connectionsAreAcceptedAtOnceWhileTheServerIsBusy() throws Exception {
        var busy = started.invokeAsync(
                JSON.writeValueAsString(Map.of("question", "Who?", "context", "Bob came. ".repeat(4_000))));
        var connections = new ArrayList<Socket>();
        try {
            for (int i = 0; i < 100; i++) {
                var socket = new Socket();
                connections.add(socket);
                socket.connect(new InetSocketAddress(InetAddress.getLoopbackAddress(), started.port()), 250);
                socket.getOutputStream()
                        .write("GET /ping HTTP/1.1\r\nHost: x\r\n\r\n".getBytes(StandardCharsets.US_ASCII));
            }
            for (var socket : connections) {
                assertThat(new String(socket.getInputStream().readNBytes(12), StandardCharsets.US_ASCII))
                        .isEqualTo("HTTP/1.1 200");
            }
            assertThat(busy).isNotDone();
        } finally {
            for (var socket : connections) {
                socket.close();
            }
        }
        assertThat(busy.get().statusCode()).isEqualTo(200);
    }

    @Test
    @Tag("RUN-13")
    @Tag("OBS-01")
    @Tag("OBS-05")
    void ahundredUnknownVariablesAreIgnoredAndNeverLogged() throws Exception {
        var environment = new HashMap<String, String>();
        for (int i = 0; i < 50; i++) {
            environment.put("SAGEMAKER_UNKNOWN_" + i, "secret-value");
            environment.put("SM_UNKNOWN_" + i, "secret-value");
        }
        environment.put("AWS_SECRET_ACCESS_KEY", "secret-value");
        environment.put("SAGEMAKER_MODEL_SERVER_WORKER", "secret-value");
        try (var server = ServeProcess.serve(environment).awaitReady()) {
            assertThat(server.invokeAsync(BOB).get().body()).contains("Bob");
            assertThat(server.terminate().exitCode()).isZero();
            assertThat(server.out())
                    .contains("SAGEMAKER_MODEL_SERVER_WORKER: did you mean SAGEMAKER_MODEL_SERVER_WORKERS?")
                    .contains("POST /invocations 200")
                    .doesNotContain("secret-value")
                    .doesNotContain("Bob came");
            assertThat(server.err()).isEmpty();
        }
    }

    @Test
    @Tag("RUN-14")
    @Tag("HOOK-04")
    void aBrokenModelIsNamedInOneLineAndEndsTheProcess(@TempDir Path directory) throws Exception {
        Files.copy(TestServer.SAMPLE_ARTIFACT.resolve("model.json"), directory.resolve("model.json"));
        Files.copy(TestServer.SAMPLE_ARTIFACT.resolve("tokenizer.json"), directory.resolve("tokenizer.json"));
        Files.writeString(directory.resolve("model.pt"), "no TorchScript");
        assertThat(ends(1, Map.of(), "--model-dir", directory.toString()))
                .hasLineCount(1)
                .contains("model.pt", "TorchScript");
    }

    /// What a start that fails says on stderr. The log has no stack then.
    private static String ends(int code, Map<String, String> environment, String... arguments) throws Exception {
        try (var server = ServeProcess.serve(environment, arguments)) {
            assertThat(server.exitCode()).isEqualTo(code);
            assertThat(server.out()).doesNotContain("ERROR", "\tat ");
            return server.err();
        }
    }

    @Test
    @Tag("RUN-14")
    void aDeviceThatIsNotThereIsNamedAndEndsTheProcess() throws Exception {
        assertThat(ends(1, Map.of("INSTANCE_TYPE", "ml.inf2.xlarge")))
                .hasLineCount(1)
                .contains("ml.inf2.xlarge", "/dev/neuron0");
    }

    @Test
    void aDirectoryWithoutItsFlagIsAModelArtifact(@TempDir Path directory) throws Exception {
        assertThat(ends(2, Map.of(), directory.toString()))
                .contains("Did you mean: --model-dir %s?".formatted(directory))
                .doesNotContain("serve init");
    }

    @ParameterizedTest
    @CsvSource({"--prot, --port", "--maxbatch-size, --max-batch-size", "chek, check"})
    void aSlipIsAnsweredByWhatWasMeant(String slip, String meant) throws Exception {
        assertThat(ends(2, Map.of(), slip, "1")).contains("Did you mean: %s?".formatted(meant));
    }

    @Test
    void anArtifactForAnotherDeviceNamesBoth(@TempDir Path directory) throws Exception {
        copySample(directory);
        var model = Files.readString(directory.resolve("model.json"));
        Files.delete(directory.resolve("model.json"));
        Files.writeString(directory.resolve("model.json"), model.replace("\"target\": \"cpu\"", "\"target\": \"gpu\""));
        assertThat(ends(1, Map.of("INSTANCE_TYPE", "cpu"), "--model-dir", directory.toString()))
                .contains("traced for gpu", "uses cpu", "--target cpu");
    }

    @Test
    @Tag("RUN-15")
    void aTarballBesideTheModelDoesNotMatter(@TempDir Path directory) throws Exception {
        copySample(directory);
        Files.writeString(directory.resolve("model.tar.gz"), "packed");
        try (var server = ServeProcess.serve(Map.of(), "serve", "--model-dir", directory.toString())
                .awaitReady()) {
            assertThat(server.get("/ping").statusCode()).isEqualTo(200);
        }
    }

    @Test
    void everyWrongSettingIsNamedAtOnce() throws Exception {
        assertThat(ends(2, Map.of("BERTH_MAX_BATCH_SIZ", "4"), "--workers", "many"))
                .contains("did you mean BERTH_MAX_BATCH_SIZE?", "--workers: found \"many\"");
    }

    @Test
    void helpShowsEverySettingWithItsVariableAndDefault() throws Exception {
        try (var server = ServeProcess.serve(Map.of(), "--help")) {
            assertThat(server.exitCode()).isZero();
            assertThat(server.out())
                    .contains("--port")
                    .contains("SAGEMAKER_BIND_TO_PORT")
                    .contains("8080")
                    .contains("BERTH_BAD_RECORDS");
        }
    }

    @Test
    void anUnknownFlagSuggestsTheNearest() throws Exception {
        assertThat(ends(2, Map.of(), "--worker", "1")).contains("--worker", "--workers");
    }

    @Test
    void aPortThatIsTakenIsNamed() throws Exception {
        assertThat(ends(1, Map.of("SAGEMAKER_BIND_TO_PORT", String.valueOf(started.port()))))
                .hasLineCount(1)
                .contains("port " + started.port());
    }

    @Test
    void anAddressOfIpv6WhereThereIsNoneIsNamed() throws Exception {
        assertThat(ends(1, Map.of("BERTH_HOST", "::", "JAVA_OPTS", "-Djava.net.preferIPv4Stack=true")))
                .hasLineCount(1)
                .startsWith("can't listen on :: port ");
    }

    @Test
    void aHookThatFailsAtTheStartIsLoggedOnceWithItsStack(@TempDir Path directory) throws Exception {
        CodeArtifact.plain(
                directory,
                "public Object modelFn(ModelContext context) { throw new IllegalStateException(\"no weights\"); }");
        try (var server = ServeProcess.serve(Map.of("INSTANCE_TYPE", "cpu"), "--model-dir", directory.toString())) {
            assertThat(server.exitCode()).isEqualTo(1);
            assertThat(server.err()).isEmpty();
            assertThat(server.out().lines().filter(line -> line.contains("ERROR")))
                    .singleElement()
                    .asString()
                    .contains(
                            "modelFn (code/Inference.java) failed at Inference.java:2: java.lang.IllegalStateException: no weights");
            assertThat(server.out()).contains("Inference.modelFn(Inference.java:2)");
        }
    }

    @Test
    @Tag("PING-08")
    void aMultiModelEndpointStartsWithoutAModelAndStops() throws Exception {
        try (var server =
                ServeProcess.serve(Map.of("SAGEMAKER_MULTI_MODEL", "true")).awaitReady()) {
            assertThat(server.get("/models").body()).isEqualTo("{\"models\":[]}");
            assertThat(server.terminate().exitCode()).isZero();
            assertThat(server.out()).contains("ready for models").doesNotContain("ERROR");
        }
    }

    /// Each of these has silenced a server for good.
    @ParameterizedTest
    @ValueSource(
            strings = {
                "System.setOut(new java.io.PrintStream(java.io.OutputStream.nullOutputStream()));",
                        "System.setOut(null);",
                "System.out.close();", "System.out.close(); System.err.close();"
            })
    @Tag("OBS-01")
    void aHookCanNeitherSilenceTheLogNorPrintBesideIt(String statement, @TempDir Path directory) throws Exception {
        CodeArtifact.plain(directory, """
        public Object modelFn(ModelContext context) { System.out.println("loading"); return this; }
        public List<String> inputFn(InvocationRequest request) {
          System.out.println("reading " + request.inferenceId());
          System.err.println("odd\\n  odder");
          %s
          return List.of("a");
        }
        """.formatted(statement));
        var environment = Map.of("INSTANCE_TYPE", "cpu", "BERTH_LOG_FORMAT", "json");
        try (var server = ServeProcess.serve(environment, "--model-dir", directory.toString())
                .awaitReady()) {
            assertStatus(
                    server.invokeAsync("x", "X-Amzn-SageMaker-Inference-Id", "abc")
                            .get(),
                    200);
            assertThat(server.terminate().exitCode()).isZero();
            var events = new ArrayList<String>();
            for (var line : server.out().lines().toList()) {
                var event = JSON.readTree(line);
                events.add("%s %s %s %s"
                        .formatted(
                                event.path("level").asText(),
                                        event.path("logger").asText(),
                                event.path("message").asText(),
                                        event.path("request_id").asText()));
            }
            assertThat(events)
                    .contains(
                            "INFO stdout loading ",
                            "INFO stdout reading abc abc",
                            "WARN stderr odd abc",
                            "WARN stderr   odder abc");
            assertThat(events)
                    .anyMatch(event -> event.startsWith("INFO dev.berth.http.RequestLog POST /invocations 200")
                            && event.endsWith(" abc"));
            assertThat(events).last().asString().contains("stopped");
            assertThat(server.err()).isEmpty();
        }
    }

    @Test
    @Tag("OBS-01")
    @Tag("HDR-12")
    void logsAreOneJsonObjectALineWhenAskedFor() throws Exception {
        try (var server = ServeProcess.serve(Map.of("BERTH_LOG_FORMAT", "json")).awaitReady()) {
            assertStatus(
                    server.invokeAsync(BOB, "X-Amzn-SageMaker-Inference-Id", "abc")
                            .get(),
                    200);
            assertThat(server.terminate().exitCode()).isZero();
            var ids = new ArrayList<String>();
            for (var line : server.out().lines().toList()) {
                var event = JSON.readTree(line);
                assertThat(event.isObject()).as(line).isTrue();
                if (event.path("message").asText().startsWith("POST /invocations 200")) {
                    ids.add(event.path("request_id").asText());
                    assertThat(event.path("route").asText()).isEqualTo("/invocations");
                    assertThat(event.path("status").asInt()).isEqualTo(200);
                    assertThat(event.path("records").asInt()).isEqualTo(1);
                    assertThat(List.of("total_ms", "decode_ms", "queue_ms", "predict_ms", "encode_ms"))
                            .allMatch(name -> event.path(name).isNumber(), line);
                }
            }
            assertThat(ids).containsExactly("abc");
            assertThat(server.err()).isEmpty();
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"ar-EG", "tr-TR"})
    void theLanguageOfTheMachineChangesNoByte(String language) throws Exception {
        var names = language.split("-");
        var environment = new HashMap<>(PATIENT);
        environment.put("JAVA_OPTS", "-Duser.language=%s -Duser.country=%s".formatted(names[0], names[1]));
        environment.put("BERTH_MAX_CONNECTIONS_PER_ADDRESS", "2");
        environment.put("SAGEMAKER_BATCH", "true");
        try (var server = ServeProcess.serve(environment).awaitReady();
                var first = new Socket(InetAddress.getLoopbackAddress(), server.port());
                var second = new Socket(InetAddress.getLoopbackAddress(), server.port());
                var refused = new Socket(InetAddress.getLoopbackAddress(), server.port())) {
            assertThat(new String(refused.getInputStream().readAllBytes(), StandardCharsets.UTF_8))
                    .startsWith("HTTP/1.1 503 ")
                    .containsPattern("Content-Length: [0-9]+\r\n")
                    .contains("this address has 2 connections");
            first.close();
            second.close();
            await().until(() -> server.get("/execution-parameters").statusCode() == 200);
            assertThat(JSON.readTree(server.get("/execution-parameters").body())
                            .path("MaxPayloadInMB")
                            .isInt())
                    .isTrue();
            assertThat(server.get("/metrics").body()).matches("\\p{ASCII}*");
            server.invokeSample();
            await().untilAsserted(() -> assertThat(server.out()).containsPattern(" 200 in [0-9]"));
            assertThat(server.out()).doesNotContainPattern("[٠-٩]");
        }
    }

    /// Of the JVM's compilers, the first one alone where a built-in task is all that is served.
    @ParameterizedTest
    @CsvSource({
        "--model-dir=model-artifact, 1",
        "--model-dir=tools/bench/nothing, 4",
        "--models=examples, 4",
    })
    void hooksAndManyModelsHaveBoth(String option, int level) throws Exception {
        try (var server = ServeProcess.serve(Map.of("JAVA_OPTS", "-XX:+PrintFlagsFinal"), option)
                .awaitReady()) {
            assertThat(server.out()).containsPattern("TieredStopAtLevel += %d ".formatted(level));
        }
    }

    /// While it serves, the JVM's cache of classes is made.
    @Test
    void theNextStartFindsItsClassesLoaded() throws Exception {
        var cache = Path.of("target/berth.aot");
        Files.deleteIfExists(cache);
        try (var _ = ServeProcess.serve(Map.of()).awaitReady()) {
            await().until(() -> Files.exists(cache));
        }

        try (var next =
                ServeProcess.serve(Map.of("JAVA_OPTS", "-Xlog:class+load")).awaitReady()) {
            assertThat(next.out()).contains("dev.berth.Main source: shared objects file");
        }
    }

    private static void copySample(Path directory) throws IOException {
        try (var files = Files.list(TestServer.SAMPLE_ARTIFACT)) {
            for (var file : (Iterable<Path>) files.filter(Files::isRegularFile)::iterator) {
                Files.copy(file, directory.resolve(file.getFileName()));
            }
        }
    }
}
