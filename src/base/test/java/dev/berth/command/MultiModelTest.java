package dev.berth.command;

import static dev.berth.testing.TestServer.assertStatus;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.berth.testing.CapturedLog;
import dev.berth.testing.CodeArtifact;
import dev.berth.testing.CodeArtifact.Jar;
import dev.berth.testing.HookProbe;
import dev.berth.testing.RawConnection;
import dev.berth.testing.TestArtifact;
import dev.berth.testing.TestServer;
import dev.berth.testing.TestThreads;
import java.io.IOException;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.Future;
import java.util.concurrent.FutureTask;
import java.util.concurrent.ThreadLocalRandom;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// The life of models that come and go while others serve.
class MultiModelTest {

    private static final String SESSION = "X-Amzn-SageMaker-Session-Id";
    private static final String SPINNING_LOAD = CodeArtifact.spinning("modelFn");
    private static final String SPINNING_PREDICTION = CodeArtifact.spinning("predictFn");

    @TempDir
    Path directory;

    @AutoClose
    private final CapturedLog log = new CapturedLog();

    @AutoClose
    private TestServer server;

    @BeforeEach
    void start() throws Exception {
        HookProbe.reset();
        server = one().start();
    }

    @Test
    @Tag("MME-16")
    @Tag("MME-20")
    void aLoadStaysOpenWhileOthersServeAndItsNameIsTaken() throws Exception {
        assertOk(server.load("other", artifact("other", "")));
        var slow = artifact("slow", SPINNING_LOAD);
        var load = server.loadAsync("slow", slow);
        HookProbe.awaitNotes("modelFn");
        assertStatus(server.load("slow", slow), 409, "model \\\"slow\\\" is being loaded");
        assertStatus(server.describe("slow"), 404, "model \\\"slow\\\" is being loaded");
        assertStatus(server.ask("slow", "a"), 404, "model \\\"slow\\\" is being loaded");
        assertStatus(server.unload("slow"), 404, "model \\\"slow\\\" is being loaded");
        assertThat(server.get("/models").body()).doesNotContain("slow");
        assertThat(server.get("/ping").statusCode()).isEqualTo(200);
        assertThat(server.ask("other", "a").body()).isEqualTo("A");
        assertThat(load).isNotDone();
        HookProbe.endSpinning();
        assertOk(load.join());
        assertThat(server.ask("slow", "a").body()).isEqualTo("A");
        assertThat(HookProbe.NOTES).containsExactly("modelFn");
    }

    @Test
    @Tag("MME-16")
    void ofLoadsOfOneNameAtTheSameTimeOneLoads() throws Exception {
        var artifact = artifact(
                "a", "@Override public Object modelFn(ModelContext context) { HookProbe.note(\"\"); return this; }");
        var loads = IntStream.range(0, 4)
                .mapToObj(_ -> server.loadAsync("a", artifact))
                .toList();
        assertThat(loads).extracting(load -> load.join().statusCode()).containsExactlyInAnyOrder(200, 409, 409, 409);
        assertThat(HookProbe.NOTES).hasSize(1);
    }

    @Test
    @Tag("MME-17")
    void anUnloadWaitsForTheRequestThatRuns() throws Exception {
        assertOk(server.load("a", artifact("a", SPINNING_PREDICTION)));
        var running = server.askAsync("a", "a");
        HookProbe.awaitNotes("predictFn");
        var unload = server.unloadAsync("a");
        await().untilAsserted(() -> assertStatus(server.describe("a"), 404, "model \\\"a\\\" is being unloaded"));
        assertStatus(server.ask("a", "late"), 404, "model \\\"a\\\" is being unloaded");
        assertStatus(server.unload("a"), 404, "model \\\"a\\\" is being unloaded");
        assertStatus(server.load("a", directory.resolve("a")), 409, "model \\\"a\\\" is being unloaded");
        assertThat(unload).isNotDone();
        HookProbe.endSpinning();
        assertThat(running.join().body()).isEqualTo("A");
        assertOk(unload.join());
        assertStatus(server.describe("a"), 404, "model \\\"a\\\" is not loaded");
    }

    @Test
    void aModelFnThatThrowsIsNamedAndItsStackIsInTheLog() throws Exception {
        var broken = artifact("broken", """
        @Override public Object modelFn(ModelContext context) throws Exception {
          throw new IllegalStateException("no weights");
        }
        """);
        assertOk(server.load("other", artifact("other", "")));
        var answer = server.load("broken", broken);
        assertStatus(
                answer,
                500,
                "modelFn (code/Inference.java) failed at Inference.java:3: java.lang.IllegalStateException: no weights");
        assertThat(answer.body()).doesNotContain("\\tat ").hasSizeLessThan(2049);
        assertThat(log.text())
                .contains("java.lang.IllegalStateException: no weights", "model \"broken\" could not be loaded from");
        assertThat(server.ask("other", "a").body()).isEqualTo("A");
        assertOk(server.load("broken", directory.resolve("other")));
    }

    @Test
    void anArtifactThatIsBrokenIs400WithAllProblems() throws Exception {
        var empty = Files.createDirectory(directory.resolve("empty"));
        assertStatus(
                server.load("empty", empty), 400, "model \\\"empty\\\" could not be loaded: model artifact " + empty);
        var source = artifact("source", "Missing first;\nAbsent second;\n");
        assertStatus(server.load("source", source), 400, "Missing", "Absent");
        var neuron =
                TestArtifact.compiled(Files.createDirectory(directory.resolve("neuron")), "inf2", "waves-4x128.pt");
        assertStatus(server.load("neuron", neuron), 400, "is traced for inf2, and this server uses cpu");
        assertThat(server.get("/models").body()).isEqualTo("{\"models\":[]}");
        assertThat(server.get("/ping").statusCode()).isEqualTo(200);
    }

    @Test
    @Tag("slow")
    void aLoadThatTakesTooLongIs504AndKeepsItsNameUntilItEnds() throws Exception {
        try (var impatient = one().start("BERTH_LOAD_TIMEOUT_SECONDS=3")) {
            var slow = artifact("slow", SPINNING_LOAD);
            assertStatus(impatient.load("slow", slow), 504, "model \\\"slow\\\" was not loaded within 3 s");
            assertStatus(impatient.load("slow", slow), 409, "is being loaded, although its time is over");
            assertStatus(impatient.unload("slow"), 404, "is being loaded, although its time is over");
            assertThat(impatient.get("/ping").statusCode()).isEqualTo(200);
            HookProbe.endSpinning();
            await().untilAsserted(
                            () -> assertStatus(impatient.describe("slow"), 404, "model \\\"slow\\\" is not loaded"));
            // On a slow machine the interrupt comes while the hooks are compiled.
            assertThat(log.text())
                    .containsPattern("model \"slow\" (was loaded when nobody waited|could not be loaded)");
        }
    }

    @Test
    void aLoadGoesOnWhenItsClientHasGone() throws Exception {
        try (var connection = new RawConnection(server.port())) {
            var body = "{\"model_name\": \"a\", \"url\": \"%s\"}".formatted(artifact("a", SPINNING_LOAD));
            connection.send(
                    "POST /models HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s"
                            .formatted(body.length(), body));
            HookProbe.awaitNotes("modelFn");
        }
        HookProbe.endSpinning();
        await().untilAsserted(
                        () -> assertThat(server.describe("a").statusCode()).isEqualTo(200));
    }

    @Test
    @Tag("slow")
    void aPredictFnThatHangsHoldsUpNoOtherModel() throws Exception {
        try (var impatient = one().start("SAGEMAKER_MODEL_SERVER_TIMEOUT_SECONDS=2", "BERTH_STUCK_SECONDS=1")) {
            assertOk(impatient.load("other", artifact("other", "")));
            assertOk(impatient.load("wedged", artifact("wedged", SPINNING_PREDICTION)));
            TestServer.hang(1, HookProbe.NOTES::size, () -> impatient.askAsync("wedged", "a"))
                    .forEach(late -> assertThat(late.join().statusCode()).isEqualTo(504));
            await().until(() -> impatient.ask("other", "a").statusCode() == 200);
            assertThat(impatient.get("/ping").statusCode()).isEqualTo(200);
            assertStatus(
                    impatient.unload("wedged"),
                    500,
                    "one of its hooks does not end; what that uses is freed when it does");
            assertStatus(impatient.describe("wedged"), 404, "model \\\"wedged\\\" is not loaded");
            await().until(() -> impatient.ask("other", "a").statusCode() == 200);
        }
    }

    @Test
    void aHandlerThatFailsToCloseIsUnloadedAnd500() throws Exception {
        var source = "public class Inference extends TextHandler implements AutoCloseable {"
                + " @Override public void close() throws IOException { throw new IOException(\"stays\"); } }";
        var artifact = new CodeArtifact(directory.resolve("a"))
                .source("Inference.java", source)
                .directory();
        assertOk(server.load("a", artifact));
        assertStatus(server.unload("a"), 500, "model \\\"a\\\" is unloaded, but its hooks could not be closed");
        assertThat(log.text()).contains("java.io.IOException: stays");
        assertOk(server.load("a", artifact("b", "")));
    }

    @Test
    @Tag("slow")
    void aStopDuringALoadRefusesTheLoadAndDrainsAllModels() throws Exception {
        var two = one().start("SAGEMAKER_MODEL_SERVER_WORKERS=2");
        assertOk(two.load("a", artifact("a", SPINNING_PREDICTION)));
        assertOk(two.load("b", artifact("b", SPINNING_PREDICTION)));
        var answers = List.of(two.askAsync("a", "a"), two.askAsync("b", "b"));
        HookProbe.awaitNotes("predictFn", "predictFn");
        var load = two.loadAsync("slow", artifact("slow", SPINNING_LOAD));
        HookProbe.awaitNotes("predictFn", "predictFn", "modelFn");
        // Not on the common pool, which the client needs.
        var stopped = new FutureTask<Void>(() -> {
            two.server().close();
            return null;
        });
        Thread.ofPlatform().start(stopped);
        assertStatus(load.join(), 503, "the server is stopping");
        assertStatus(two.load("late", directory.resolve("a")), 503, "the server is stopping");
        await().untilAsserted(() -> {
            assertThat(two.ask("a", "late").statusCode()).isEqualTo(503);
            assertThat(two.ask("b", "late").statusCode()).isEqualTo(503);
        });
        HookProbe.endSpinning();
        assertThat(answers).extracting(answer -> answer.join().body()).containsExactly("A", "B");
        stopped.get();
    }

    @Test
    void twoVersionsOfALibraryServeSideBySideAndAreCollectedWhenTheyAreUnloaded() throws Exception {
        assertOk(server.load("other", artifact("other", "")));
        for (var version : List.of("1", "2")) {
            assertOk(server.load(version, versioned(version)));
        }
        for (int i = 0; i < 8; i++) {
            assertThat(server.ask("1", "a").body()).isEqualTo("1 1");
            assertThat(server.ask("2", "a").body()).isEqualTo("2 2");
        }
        assertThat(HookProbe.LOADERS).hasSize(2);
        assertOk(server.unload("1"));
        assertThat(server.ask("2", "a").body()).isEqualTo("2 2");
        assertOk(server.unload("2"));
        await().untilAsserted(() -> {
            System.gc();
            // Others keep the threads busy, so that none of them ends for want of work.
            assertThat(server.ask("other", "a").body()).isEqualTo("A");
            assertThat(HookProbe.LOADERS)
                    .allSatisfy(loader -> assertThat(loader.refersTo(null)).isTrue());
        });
    }

    /// Leaves something of its own classes in a thread-local variable of every thread that it comes
    /// to.
    private Path versioned(String version) throws IOException {
        CodeArtifact.hooks(directory.resolve("version" + version), """
        static final ThreadLocal<Object> LOCAL = new ThreadLocal<>();
        record Own(String version) {}
        static { HookProbe.saw(Inference.class); }
        private static Own local() { LOCAL.set(new Own(com.acme.Version.text())); return (Own) LOCAL.get(); }
        @Override public Object modelFn(ModelContext context) { return local(); }
        @Override public List<String> inputFn(InvocationRequest request) throws IOException {
          return List.of(local().version());
        }
        @Override public List<String> predictFn(List<String> records, Object model) {
          return records.stream().map(record -> record + " " + local().version()).toList();
        }
        @Override public InvocationResponse outputFn(List<String> predictions, InvocationRequest request) throws IOException {
          local();
          return super.outputFn(predictions, request);
        }
        """)
                .jar(
                        "lib/version.jar",
                        Jar.of(
                                "com.acme.Version",
                                "package com.acme; public class Version { public static String text() { return \"%s\"; } }"
                                        .formatted(version)));
        return directory.resolve("version" + version);
    }

    @Test
    void requestsDuringLoadsAndUnloadsAreAnsweredOrTheModelIsNotThere() throws Exception {
        var artifact = CodeArtifact.compiled(directory.resolve("a")).directory();
        var names = List.of("a", "b", "c");
        try (var threads = new TestThreads()) {
            assertOk(server.load("stays", TestServer.SAMPLE_ARTIFACT));
            var work = IntStream.range(0, 8)
                    .<Future<?>>mapToObj(thread -> threads.submit(() -> {
                        for (int i = 0; i < 40; i++) {
                            var name = names.get(ThreadLocalRandom.current().nextInt(names.size()));
                            switch (thread) {
                                case 0, 1 ->
                                    assertThat(server.load(name, artifact).statusCode())
                                            .isIn(200, 409);
                                case 2 ->
                                    assertThat(server.unload(name).statusCode()).isIn(200, 404);
                                case 3 ->
                                    assertThat(server.ask("stays", """
                {"question": "Where is the tower?", "context": "The tower is in Paris."}""").body()).contains("Paris");
                                default -> {
                                    var answer = server.ask(name, "x");
                                    assertThat(answer.statusCode())
                                            .as(answer.body())
                                            .isIn(200, 404);
                                    assertThat(answer.body())
                                            .matches(answer.statusCode() == 200 ? "X" : ".*not_found.*");
                                }
                            }
                        }
                        return null;
                    }))
                    .toList();
            for (var one : work) {
                one.get();
            }
        }
    }

    @Test
    @Tag("SES-03")
    @Tag("SES-05")
    void aSessionBelongsToItsModelAndEndsWithIt() throws Exception {
        var artifact = new CodeArtifact(directory).source("Inference.java", """
        public class Inference extends RememberingHandler {
          public Inference() { super(java.time.Duration.ofMinutes(20)); }
        }
        """).directory();
        assertOk(server.load("one", artifact));
        assertOk(server.load("two", artifact));
        var id = TestServer.session(server.ask("one", "{\"requestType\":\"NEW_SESSION\"}", SESSION, "NEW_SESSION"));
        String[] inIt = {SESSION, id, "Content-Type", "text/plain"};
        assertThat(server.ask("one", "a", inIt).body()).isEqualTo("A");
        assertThat(server.ask("one", "b", inIt).body()).isEqualTo("A,B");
        assertStatus(server.ask("two", "c", inIt), 400);
        assertThat(server.get("/metrics").body())
                .contains("berth_sessions{model=\"one\"} 1.0", "berth_sessions{model=\"two\"} 0.0");

        assertThat(server.unload("one").statusCode()).isEqualTo(200);
        assertOk(server.load("one", artifact));
        assertThat(server.get("/metrics").body()).contains("berth_sessions{model=\"one\"} 0.0");
        assertStatus(server.ask("one", "d", inIt), 400);
    }

    private static TestServer.Builder one() {
        return TestServer.ofModels().set("SAGEMAKER_MODEL_SERVER_WORKERS", "1");
    }

    private Path artifact(String name, String hooks) throws IOException {
        return CodeArtifact.hooks(directory.resolve(name), hooks).directory();
    }

    private static void assertOk(HttpResponse<String> response) {
        assertStatus(response, 200);
    }
}
