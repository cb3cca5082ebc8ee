package dev.berth.command;

import static dev.berth.testing.TestServer.assertStatus;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.berth.testing.CapturedLog;
import dev.berth.testing.CodeArtifact;
import dev.berth.testing.HookProbe;
import dev.berth.testing.TestServer;
import dev.berth.testing.TestThreads;
import dev.berth.testing.TextHandler;
import java.io.IOException;
import java.net.http.HttpResponse;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// `--watch`: somebody edits the artifact of a server that runs.
class WatchTest {

    private static final int EDITS = 8;

    @TempDir
    Path directory;

    @Test
    void hooksOfOnesOwnTakeThePlaceOfTheArtifactThatIsWatched() throws Exception {
        try (var server = TestServer.with(new TextHandler()).start("BERTH_WATCH=true")) {
            assertThat(server.invoke("x").body()).isEqualTo("X");
        }
    }

    @Test
    @Tag("slow")
    void editsUnderLoadFailNoRequest() throws Exception {
        HookProbe.reset();
        answer("version 0");
        try (var server = watching().start();
                var threads = new TestThreads()) {
            var ended = new AtomicBoolean();
            var asking = IntStream.range(0, 4)
                    .<Future<?>>mapToObj(_ -> threads.submit(() -> {
                        while (!ended.get()) {
                            var answer = server.invoke("x");
                            assertThat(answer.statusCode()).as(answer.body()).isEqualTo(200);
                            assertThat(answer.body()).matches("version \\d+");
                        }
                        return null;
                    }))
                    .toList();
            try {
                for (int edit = 1; edit <= EDITS; edit++) {
                    answer("version " + edit);
                    awaitAnswer(server, "version " + edit);
                }
            } finally {
                ended.set(true);
            }
            for (var one : asking) {
                one.get();
            }
            await().untilAsserted(() -> {
                System.gc();
                // A request keeps the threads of hooks busy, so that none of them ends for want of
                // work.
                assertThat(server.invoke("x").body()).isEqualTo("version " + EDITS);
                assertThat(HookProbe.LOADERS.subList(0, EDITS))
                        .allSatisfy(loaded -> assertThat(loaded.refersTo(null)).isTrue());
            });
            assertThat(server.get("/metrics").body()).contains("berth_models_loaded 1.0");
            assertThat(server.get("/execution-parameters").statusCode()).isEqualTo(200);
        }
    }

    @Test
    void aVersionThatDoesNotCompileLeavesTheOneBefore() throws Exception {
        answer("right");
        try (var server = watching().start();
                var log = new CapturedLog()) {
            CodeArtifact.hooks(
                    directory,
                    "@Override public List<String> predictFn(List<String> records, Object model) { return word; }");
            await().untilAsserted(() -> assertThat(log.text())
                    .contains("code/Inference.java:2:", "cannot find symbol", "the version before serves on"));
            await().untilAsserted(() -> assertThat(log.text()).contains("could not be loaded from"));
            assertThat(server.invoke("x").body()).isEqualTo("right");
            assertThat(server.get("/ping").statusCode()).isEqualTo(200);
            answer("right again");
            awaitAnswer(server, "right again");
        }
    }

    @Test
    void aSampleThatIsAnsweredOtherwiseLeavesTheVersionBefore() throws Exception {
        answer("[1]");
        new CodeArtifact(directory).file("sample.json", "[]").file("sample-response.json", "[1]");
        try (var server = watching().start();
                var log = new CapturedLog()) {
            answer("[2]");
            await().untilAsserted(() ->
                    assertThat(log.text()).contains("sample-response.json", "the version before serves on"));
            assertThat(server.invoke("x").body()).isEqualTo("[1]");
        }
    }

    @Test
    void theFirstVersionMayBeBroken() throws Exception {
        CodeArtifact.hooks(directory, "int word = ;");
        try (var log = new CapturedLog();
                var server = watching().start()) {
            assertThat(server.get("/ping")).satisfies(ping -> {
                assertStatus(ping, 503, "code/Inference.java:2: error");
            });
            assertThat(server.invoke("x")).satisfies(answer -> {
                assertStatus(answer, 500, "code/Inference.java:2: error");
            });
            await().untilAsserted(() -> assertThat(log.text())
                    .contains(
                            "INTERNAL: the model could not be loaded, as logged above",
                            "nothing to serve yet, watching for edits: "));
            assertThat(log.text())
                    .containsOnlyOnce("could not be loaded from " + directory)
                    .containsOnlyOnce("code/Inference.java:2: error")
                    .doesNotContain("ServingException");
            answer("right");
            await().until(() -> server.get("/ping").statusCode() == 200);
            assertThat(server.invoke("x").body()).isEqualTo("right");
        }
    }

    private TestServer.Builder watching() {
        return TestServer.artifact(directory).set("BERTH_WATCH", "true");
    }

    private void awaitAnswer(TestServer server, String expected) {
        await().pollInterval(Duration.ofMillis(20)).until(() -> isAnswer(server.invoke("x"), expected));
    }

    private static boolean isAnswer(HttpResponse<String> response, String expected) {
        return response.statusCode() == 200 && response.body().equals(expected);
    }

    private void answer(String text) throws IOException {
        CodeArtifact.hooks(directory, """
        static { HookProbe.saw(Inference.class); }
        @Override public List<String> predictFn(List<String> records, Object model) {
          return records.stream().map(record -> "%s").toList();
        }
        """.formatted(text));
    }
}
