package dev.berth.http;

import static dev.berth.testing.TestServer.assertStatus;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.berth.testing.CapturedLog;
import dev.berth.testing.CodeArtifact;
import dev.berth.testing.HookProbe;
import dev.berth.testing.Origins;
import dev.berth.testing.TestServer;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// A directory of models, served by `--models`.
class ModelsAtHomeTest {

    private static final ObjectMapper JSON = new ObjectMapper();
    private static final String QUESTION = """
      {"question": "What is the capital of France?", "context": "The capital of France is Paris."}""";
    private static final String NOTING_LOAD = """
      @Override public Object modelFn(ModelContext context) { HookProbe.note("modelFn"); return this; }
      """;
    private static final String SPINNING_LOAD = CodeArtifact.spinning("modelFn");
    private static final String SPINNING_PREDICTION = CodeArtifact.spinning("predictFn");

    @TempDir
    Path models;

    @AutoClose
    private final CapturedLog log = new CapturedLog();

    @AutoClose
    private TestServer server;

    @BeforeEach
    void reset() {
        HookProbe.reset();
    }

    @Test
    void everyArtifactIsServedUnderTheNameOfItsDirectory() throws Exception {
        text("upper", "");
        text("a b%+c", "");
        Files.createSymbolicLink(models.resolve("qa"), TestServer.SAMPLE_ARTIFACT);
        server = lazy().start();
        assertThat(statuses(server))
                .isEqualTo(Map.of("a b%+c", "not loaded", "qa", "not loaded", "upper", "not loaded"));
        assertThat(server.ask("qa", QUESTION, "Content-Type", "application/json")
                        .body())
                .contains("Paris");
        assertThat(server.ask("a b%+c", "a").body()).isEqualTo("A");
        assertThat(statuses(server)).isEqualTo(Map.of("a b%+c", "loaded", "qa", "loaded", "upper", "not loaded"));
        assertThat(server.describe("upper").body())
                .isEqualTo("{\"modelName\":\"upper\",\"modelUrl\":\"%s\",\"status\":\"not loaded\"}"
                        .formatted(models.resolve("upper")));
        assertStatus(
                server.describe("other"), 404, "model \\\"other\\\" is neither loaded nor a directory of " + models);
        assertStatus(
                server.ask("other", "a"), 404, "model \\\"other\\\" is neither loaded nor a directory of " + models);
        assertStatus(server.invoke("a"), 404, "POST /models/{name}/invoke asks one");
        assertStatus(server.get("/models?limit=1"), 200, "\"modelName\":\"a b%+c\"", "nextPageToken");
    }

    @Test
    void whatIsNoDirectoryOrHiddenIsLeftOut() throws Exception {
        text("good", "");
        text(".hidden", "");
        // Bytes that are no characters: no path of Java's names them.
        assertThat(new ProcessBuilder("sh", "-c", "mkdir \"$(printf 'x\\377')\"")
                        .directory(models.toFile())
                        .start()
                        .waitFor())
                .isZero();
        Files.writeString(models.resolve("README"), "models");
        Files.writeString(models.resolve("packed.tar.gz"), "");
        server = lazy().start();
        assertThat(statuses(server)).containsOnlyKeys("good");
        assertThat(log.text())
                .contains("models: packed.tar.gz is not served; unpack it into a directory of " + models)
                .contains("models: x\uFFFD is not served");
    }

    @Test
    void requestsWaitForTheSameLoad() throws Exception {
        text("slow", SPINNING_LOAD);
        server = lazy().start();
        var answers = List.of(server.askAsync("slow", "a"), server.askAsync("slow", "b"), server.askAsync("slow", "c"));
        HookProbe.awaitNotes("modelFn");
        assertThat(statuses(server)).containsEntry("slow", "loading");
        assertThat(answers).noneMatch(answer -> answer.isDone());
        HookProbe.endSpinning();
        assertThat(answers).extracting(answer -> answer.join().body()).containsExactly("A", "B", "C");
        assertThat(HookProbe.NOTES).containsExactly("modelFn");
    }

    @Test
    @Tag("slow")
    void aRequestWhoseTimeIsOverIsRejectedAndTheLoadGoesOn() throws Exception {
        text("slow", SPINNING_LOAD);
        server = lazy().start("SAGEMAKER_MODEL_SERVER_TIMEOUT_SECONDS=2");
        var late = server.ask("slow", "a");
        assertStatus(late, 503, "model \\\"slow\\\" is being loaded still; that goes on, ask again");
        assertThat(late.headers().firstValue("Retry-After")).contains("1");
        HookProbe.endSpinning();
        await().until(() -> statuses(server).get("slow").equals("loaded"));
        assertThat(server.ask("slow", "a").body()).isEqualTo("A");
        assertThat(HookProbe.NOTES).containsExactly("modelFn");
    }

    @Test
    @Tag("slow")
    void aLoadThatTakesTooLongIsGivenUp() throws Exception {
        text("slow", SPINNING_LOAD);
        server = lazy().start("BERTH_LOAD_TIMEOUT_SECONDS=2");
        assertStatus(server.ask("slow", "a"), 503, "model \\\"slow\\\" was not loaded within 2 s");
        assertStatus(server.ask("slow", "a"), 503, "is being loaded, although its time is over");
        HookProbe.endSpinning();
        await().until(() -> statuses(server).get("slow").equals("failed"));
    }

    @Test
    @Tag("slow")
    void whatIsNoArtifactSaysWhyUntilItIsOne() throws Exception {
        Files.createDirectory(models.resolve("empty"));
        server = lazy().start();
        var refused = server.ask("empty", "a");
        assertStatus(
                refused, 500, "model \\\"empty\\\" could not be loaded: model artifact " + models.resolve("empty"));
        assertThat(statuses(server)).containsEntry("empty", "failed");
        assertStatus(server.describe("empty"), 200, "\"problem\":\"model \\\"empty\\\" could not be loaded");
        assertStatus(server.ask("empty", "a"), 500, "could not be loaded");
        assertStatus(server.load("empty", models.resolve("empty")), 400, "could not be loaded");
        assertThat(server.get("/ping").statusCode()).isEqualTo(200);
        text("empty", "");
        await().until(() -> server.ask("empty", "a").statusCode() == 200);
    }

    @Test
    void anArtifactWhoseLinksLeadBackOrDoubleThePathsIsServed() throws Exception {
        text("m", "");
        Files.createSymbolicLink(models.resolve("m/code/self"), Path.of("."));
        for (int i = 0; i < 21; i++) {
            Files.createDirectories(models.resolve("m/d" + i));
            Files.createSymbolicLink(models.resolve("m/d%d/a".formatted(i)), Path.of("../d" + (i + 1)));
            Files.createSymbolicLink(models.resolve("m/d%d/b".formatted(i)), Path.of("../d" + (i + 1)));
        }
        Files.createDirectories(models.resolve("m/d21"));
        server = lazy().start();
        assertStatus(server.ask("m", "a"), 200, "A");
    }

    @Test
    void hooksThatFailAreTriedAgainByTheNextRequest() throws Exception {
        text("moody", """
        @Override public Object modelFn(ModelContext context) {
          HookProbe.note("modelFn");
          if (HookProbe.NOTES.size() == 1) { throw new IllegalStateException("no network"); }
          return this;
        }
        """);
        server = lazy().start();
        assertStatus(server.ask("moody", "a"), 500, "java.lang.IllegalStateException: no network");
        assertThat(statuses(server)).containsEntry("moody", "failed");
        assertThat(server.ask("moody", "a").body()).isEqualTo("A");
        assertThat(statuses(server)).containsEntry("moody", "loaded");
    }

    @Test
    @Tag("slow")
    void atStartAllThatFitAreLoadedBeforeTheServerIsReady() throws Exception {
        text("a", SPINNING_LOAD);
        text(
                "b",
                "@Override public Object modelFn(ModelContext context) { throw new IllegalStateException(\"no key\"); }");
        sized("c", "");
        sized("d", "");
        sized("e", "");
        var builder = lazy().set("BERTH_LOAD_MODELS", "start").set("BERTH_MODELS_MEMORY", "130");
        server = builder.startWithoutWaiting();
        HookProbe.awaitNotes("modelFn");
        assertStatus(server.get("/ping"), 503, "the server is starting");
        HookProbe.endSpinning();
        server.server().awaitReady();
        assertThat(server.get("/ping").statusCode()).isEqualTo(200);
        assertThat(statuses(server))
                .isEqualTo(Map.of("a", "loaded", "b", "failed", "c", "loaded", "d", "loaded", "e", "failed"));
        assertStatus(server.describe("e"), 200, "model \\\"e\\\" needs about", "MB free of 130 MB (models-memory)");
        assertThat(server.get("/metrics").body()).contains("berth_model_evictions_total 0.0");
        assertThat(server.ask("e", "a").body()).isEqualTo("A");

        text("new", NOTING_LOAD);
        await().until(() -> "loaded".equals(statuses(server).get("new")));
    }

    @Test
    void theIdleModelThatHasNotBeenUsedForLongestMakesWay() throws Exception {
        for (var name : List.of("a", "b", "c")) {
            sized(name, "");
        }
        server = lazy().start("BERTH_MODELS_MEMORY=130");
        for (var name : List.of("a", "b", "a", "c")) {
            assertThat(server.ask(name, "x").body()).isEqualTo("X");
        }
        assertThat(statuses(server)).isEqualTo(Map.of("a", "loaded", "b", "not loaded", "c", "loaded"));
        assertThat(log.text()).contains("model \"b\" makes way", "model \"b\" is unloaded");
        assertThat(server.ask("b", "x").body()).isEqualTo("X");
        assertThat(statuses(server)).isEqualTo(Map.of("a", "not loaded", "b", "loaded", "c", "loaded"));
        assertThat(server.get("/metrics").body()).contains("berth_model_evictions_total 2.0");
    }

    @Test
    void aModelThatAnswersNeverMakesWay() throws Exception {
        sized("busy", SPINNING_PREDICTION);
        sized("other", "");
        server = lazy().start("BERTH_MODELS_MEMORY=80");
        var running = server.askAsync("busy", "a");
        HookProbe.awaitNotes("predictFn");
        assertStatus(
                server.ask("other", "a"),
                507,
                "model \\\"other\\\" needs about",
                " MB, found ",
                "MB free of 80 MB (models-memory), idle models could free 0 MB more");
        assertThat(statuses(server)).containsEntry("busy", "loaded");
        HookProbe.endSpinning();
        assertThat(running.join().body()).isEqualTo("A");
        await().untilAsserted(() -> assertThat(server.ask("other", "a").body()).isEqualTo("A"));
        assertThat(statuses(server)).isEqualTo(Map.of("busy", "not loaded", "other", "loaded"));
        assertStatus(server.unload("other"), 200);
        assertThat(statuses(server)).containsEntry("other", "not loaded");
    }

    @Test
    void aModelThatIsTooLargeForTheMemoryMakesNoOtherOneGo() throws Exception {
        sized("large", "");
        text("small", "");
        server = lazy().start("BERTH_MODELS_MEMORY=10");
        assertThat(server.ask("small", "a").body()).isEqualTo("A");
        assertStatus(server.ask("large", "a"), 507, "found 10 MB free of 10 MB (models-memory), raise --models-memory");
        // A full server is no defect, so its line has no stack.
        await().untilAsserted(() ->
                assertThat(log.text()).containsPattern("INFO POST /models/large/invoke 507 .* raise --models-memory"));
        assertThat(log.events()).noneMatch(event -> event.getThrowableProxy() != null);
        assertThat(statuses(server)).isEqualTo(Map.of("large", "failed", "small", "loaded"));
    }

    @Test
    @Tag("slow")
    void manyWhoAskMoreModelsThanFitAreAnsweredOrToldThatThereIsNoRoom() throws Exception {
        for (var name : List.of("a", "b", "c", "d")) {
            sized(name, "");
        }
        server = lazy().start("BERTH_MODELS_MEMORY=130");
        for (int i = 0; i < 10; i++) {
            var answers = List.of("a", "b", "c", "d").stream()
                    .map(name -> server.askAsync(name, name))
                    .toList();
            for (var answer : answers) {
                assertThat(answer.join().statusCode()).as(answer.join().body()).isIn(200, 507);
            }
            assertThat(answers).anyMatch(answer -> answer.join().statusCode() == 200);
        }
    }

    @Test
    void modelsAreLoadedAndUnloadedByHandToo() throws Exception {
        text("mine", NOTING_LOAD);
        var other = CodeArtifact.hooks(models.resolve(".more/other"), "").directory();
        server = lazy().start();
        assertStatus(server.unload("mine"), 404, "model \\\"mine\\\" is not loaded");
        assertStatus(server.load("mine", other), 409, "model \\\"mine\\\" is the one of " + models.resolve("mine"));
        assertStatus(server.load("mine", models.resolve("mine")), 200, "\"status\":\"loaded\"");
        assertStatus(server.load("mine", models.resolve("mine")), 409, "is loaded already");
        assertStatus(server.unload("mine"), 200);
        assertThat(statuses(server)).isEqualTo(Map.of("mine", "not loaded"));
        assertThat(server.ask("mine", "a").body()).isEqualTo("A");
        assertThat(HookProbe.NOTES).hasSize(2);

        assertStatus(server.load("other", other), 200);
        assertThat(server.ask("other", "a").body()).isEqualTo("A");
        assertThat(statuses(server)).isEqualTo(Map.of("mine", "loaded", "other", "loaded"));
        assertStatus(server.unload("other"), 200);
        assertStatus(server.ask("other", "a"), 404, "is neither loaded nor a directory of");
    }

    @Test
    @Tag("slow")
    void aNewVersionIsServedWithoutARestartAndRequestsEndOnTheOldOne() throws Exception {
        text("m", SPINNING_PREDICTION);
        server = lazy().start("SAGEMAKER_MODEL_SERVER_WORKERS=2");
        var running = server.askAsync("m", "a");
        HookProbe.awaitNotes("predictFn");
        answering("m", "second");
        await().untilAsserted(() -> assertThat(log.events())
                .filteredOn(event -> event.getFormattedMessage().startsWith("model \"m\" is loaded from"))
                .hasSize(2));
        assertThat(server.ask("m", "b").body()).isEqualTo("second");
        assertThat(running).isNotDone();
        HookProbe.endSpinning();
        assertThat(running.join().body()).isEqualTo("A");
        await().untilAsserted(
                        () -> assertThat(log.text()).contains("model \"m\" is unloaded, as a newer version is there"));
        assertThat(server.get("/metrics").body()).contains("berth_models_loaded 1.0");
    }

    @Test
    @Tag("slow")
    void aVersionThatCannotBeLoadedLeavesTheOneBefore() throws Exception {
        answering("m", "first");
        server = lazy().start();
        assertThat(server.ask("m", "a").body()).isEqualTo("first");
        text("m", "Missing field;");
        await().untilAsserted(() -> assertStatus(
                server.describe("m"),
                200,
                "\"status\":\"loaded\"",
                "\"problem\":\"serves the version before: model \\\"m\\\" could not be loaded"));
        assertThat(server.ask("m", "a").body()).isEqualTo("first");
        text("new", "");
        await().until(() -> server.ask("new", "a").statusCode() == 200);
        assertThat(log.events())
                .filteredOn(event -> event.getFormattedMessage().contains("could not be loaded from"))
                .hasSize(1);
        answering("m", "third");
        await().until(() -> server.ask("m", "a").body().equals("third"));
        assertThat(server.describe("m").body()).doesNotContain("problem");
    }

    @Test
    @Tag("slow")
    void aDirectoryThatIsRemovedIsUnloaded() throws Exception {
        text("m", SPINNING_PREDICTION);
        server = lazy().start();
        var running = server.askAsync("m", "a");
        HookProbe.awaitNotes("predictFn");
        delete(models.resolve("m"));
        await().until(() -> statuses(server).get("m").equals("not loaded"));
        HookProbe.endSpinning();
        assertThat(running.join().body()).isEqualTo("A");
        await().untilAsserted(() -> assertThat(log.text()).contains("model \"m\" is not in " + models));
        assertStatus(server.ask("m", "a"), 404, "is neither loaded nor a directory of");
        assertThat(statuses(server)).isEmpty();
    }

    @Test
    void whatChangesTheServerIsNotForPagesFromElsewhere(@TempDir Path elsewhere) throws Exception {
        server = lazy().start();
        Origins.assertRefusesPagesFromElsewhere(server, "POST /models");
        Origins.assertRefusesPagesFromElsewhere(server, "DELETE /models/m");
        for (var url : new Path[] {elsewhere, models.resolve("../x"), Path.of("/")}) {
            assertStatus(server.load("m", url), 400, "url: found", "expected a directory below " + models);
        }
    }

    private TestServer.Builder lazy() {
        return TestServer.ofDirectory(models).set("SAGEMAKER_MODEL_SERVER_WORKERS", "1");
    }

    private void text(String name, String hooks) throws IOException {
        CodeArtifact.hooks(models.resolve(name), hooks);
    }

    private void answering(String name, String answer) throws IOException {
        text(
                name,
                "@Override public List<String> predictFn(List<String> records, Object model) { return List.of(\"%s\"); }"
                        .formatted(answer));
    }

    /// With files that tell how much memory they need: about 64 MB to load, and 39 MB then.
    private void sized(String name, String hooks) throws IOException {
        CodeArtifact.hooks(models.resolve(name), hooks).withSample();
    }

    private static Map<String, String> statuses(TestServer server) throws Exception {
        var statuses = new TreeMap<String, String>();
        for (JsonNode model : JSON.readTree(server.get("/models").body()).get("models")) {
            statuses.put(model.get("modelName").textValue(), model.get("status").textValue());
        }
        return statuses;
    }

    private static void delete(Path directory) throws IOException {
        try (var files = Files.walk(directory)) {
            for (var file : files.sorted(Comparator.reverseOrder()).toList()) {
                Files.delete(file);
            }
        }
    }
}
