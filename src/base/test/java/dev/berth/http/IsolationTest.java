package dev.berth.http;

import static dev.berth.testing.TestServer.assertAll;
import static dev.berth.testing.TestServer.assertStatus;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.berth.testing.CapturedLog;
import dev.berth.testing.CodeArtifact;
import dev.berth.testing.HookProbe;
import dev.berth.testing.TestServer;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/// A model whose hooks hang keeps no other model from answering.
@Tag("slow")
@Timeout(600)
class IsolationTest {

    @TempDir
    private Path directory;

    @BeforeEach
    void lock() {
        HookProbe.reset();
        HookProbe.hold();
    }

    @AfterEach
    void unlock() {
        HookProbe.letGo();
    }

    @ParameterizedTest
    @CsvSource({"inputFn, 32", "predictFn, 2", "outputFn, 32"})
    void whileAllHooksOfAModelHangAnotherOneAnswersEveryRequest(String hook, int hanging) throws Exception {
        try (var server = start("60", "30")) {
            load(server, "wedged", hook);
            load(server, "fine", "");
            var wedged = ask(server, 200);
            await().until(() -> HookProbe.NOTES.size() >= hanging);

            assertAnswers(server);
            assertThat(wedged).noneMatch(CompletableFuture::isDone);
            assertThat(server.get("/ping").statusCode()).isEqualTo(200);
            HookProbe.letGo();
            assertThat(wedged)
                    .allSatisfy(answer -> assertThat(answer.get().body()).isEqualTo("A"));
        }
    }

    @ParameterizedTest
    @CsvSource({
        "inputFn, 8, hooks of wedged do not end",
        "predictFn, 2, no worker that can predict",
        "outputFn, 8, hooks of wedged do not end"
    })
    void aModelWhoseHooksAreStuckSaysSoAndTheServerStaysHealthy(String hook, int stuck, String why) throws Exception {
        try (var server = start("2", "1");
                var log = new CapturedLog()) {
            load(server, "wedged", hook);
            load(server, "fine", "");
            var wedged = TestServer.hang(stuck, HookProbe.NOTES::size, () -> server.askAsync("wedged", "a"));
            assertAll(wedged, 504);
            server.awaitMetrics("berth_stuck_hooks{model=\"wedged\"} %d.0".formatted(stuck));

            var refused = server.ask("wedged", "a");
            assertStatus(refused, 503, why);
            assertThat(server.describe("wedged").body()).contains("\"problem\":");
            assertThat(server.describe("fine").body()).doesNotContain("problem");
            assertThat(server.get("/ping").statusCode()).isEqualTo(200);
            await().untilAsserted(() -> assertAnswers(server));
            assertThat(log.events().stream()
                            .filter(event -> event.getFormattedMessage().startsWith(hook))
                            .filter(event -> event.getFormattedMessage().contains("is stuck")))
                    .hasSize(stuck)
                    .allSatisfy(event -> assertThat(event.getMDCPropertyMap()).containsEntry("model", "wedged"));

            HookProbe.letGo();
            await().untilAsserted(() ->
                    assertThat(server.ask("wedged", "a").statusCode()).isEqualTo(200));
            assertThat(server.describe("wedged").body()).doesNotContain("problem");
        }
    }

    @Test
    void aModelIsCountedFromItsLoadUntilItIsUnloaded() throws Exception {
        try (var server = start("60", "30")) {
            load(server, "fine", "");
            assertThat(server.load("broken", Files.createDirectory(directory.resolve("broken")))
                            .statusCode())
                    .isNotEqualTo(200);
            assertAnswers(server);
            await().untilAsserted(() -> assertThat(server.get("/metrics").body().lines())
                    .contains(
                            "berth_models_loaded 1.0",
                            "berth_model_loads_total{result=\"loaded\"} 1.0",
                            "berth_model_requests_total{model=\"fine\",status=\"200\"} 50.0"));
            assertThat(server.get("/metrics").body()).contains("berth_model_loads_total{result=\"bad_input\"} 1.0");

            server.unload("fine");
            assertThat(server.get("/metrics").body())
                    .contains("berth_models_loaded 0.0")
                    .doesNotContain("model=");
        }
    }

    private static void assertAnswers(TestServer server) {
        var answers = IntStream.range(0, 50)
                .mapToObj(_ -> server.askAsync("fine", "a"))
                .toList();
        assertThat(answers).allSatisfy(answer -> assertThat(answer.get().body()).isEqualTo("A"));
    }

    private static List<CompletableFuture<HttpResponse<String>>> ask(TestServer server, int count) {
        return Stream.generate(() -> server.askAsync("wedged", "a"))
                .limit(count)
                .toList();
    }

    /// A model with a hook that hangs until the test lets the lock go, whoever interrupts.
    private void load(TestServer server, String name, String hook) throws Exception {
        var artifact = CodeArtifact.hooks(Files.createDirectory(directory.resolve(name)), """
                      @Override protected void enter(String hook, List<String> lines) {
                        if (hook.equals("%s")) {
                          HookProbe.note("hangs");
                          HookProbe.waitForLock();
                        }
                      }
                      """.formatted(hook));
        var loaded = server.load(name, artifact.directory());
        assertThat(loaded.statusCode()).as(loaded.body()).isEqualTo(200);
    }

    private static TestServer start(String timeout, String stuckAfter) throws Exception {
        return TestServer.ofModels()
                .set("SAGEMAKER_MODEL_SERVER_WORKERS", "2")
                .set("SAGEMAKER_MODEL_SERVER_TIMEOUT_SECONDS", timeout)
                .set("BERTH_STUCK_SECONDS", stuckAfter)
                .start("BERTH_MAX_BATCH_SIZE=1");
    }
}
