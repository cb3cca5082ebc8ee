package dev.berth.command;

import static dev.berth.testing.TestServer.assertStatus;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.berth.testing.CapturedLog;
import dev.berth.testing.OnnxModel;
import dev.berth.testing.ServeProcess;
import dev.berth.testing.TestArtifact;
import dev.berth.testing.TestServer;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/// Models of which a request says how long a forward takes: for longer than its caller waits. One
/// of ONNX ends then, one of TorchScript can't be ended.
@Tag("slow")
@Timeout(600)
class EndlessForwardTest {

    private static final String TIMEOUT = "SAGEMAKER_MODEL_SERVER_TIMEOUT_SECONDS";
    private static final String[] JSON = {"Content-Type", "application/json"};
    private static final Set<String> FORWARDS = Set.of("run", "moduleRunMethod");
    private static final String ONE_HAS_BEGUN = "berth_queue_wait_seconds_count{model=\"model\"} 1";

    private static final String YEARS = "[[1e15, 1]]";

    /// Some 10 s.
    private static final String LONG = "[[1e8, 1]]";

    @TempDir
    private Path directory;

    @Test
    void anOnnxForwardEndsWithItsDeadlineAndOthersAreAnsweredMeanwhile() throws Exception {
        try (var server = TestServer.ofModels().set(TIMEOUT, "5").start()) {
            load(server, "turning", onnx("turning", OnnxModel.turning()));
            load(server, "linear", onnx("linear", OnnxModel.linear()));
            for (int i = 0; i < 2; i++) {
                var one = server.askAsync("turning", YEARS, JSON);
                var two = server.askAsync("turning", YEARS, JSON);
                await().until(EndlessForwardTest::isInside);
                while (!one.isDone() || !two.isDone()) {
                    assertThat(server.ask("linear", "[[1, 2]]", JSON).body())
                            .isEqualTo("[{\"y\":[8.0],\"twice\":[2.0,4.0]}]");
                }
                assertThat(one.join().statusCode()).isEqualTo(504);
                assertThat(two.join().statusCode()).isEqualTo(504);
            }
            await().until(() -> !isInside());
            assertThat(server.ask("turning", "[[1, 2]]", JSON).body()).isEqualTo("[[1.0,2.0]]");
        }
    }

    @Test
    void aModelIsUnloadedWhileAnOnnxForwardRunsWhichEnds() throws Exception {
        try (var server = TestServer.ofModels().set(TIMEOUT, "2").start()) {
            load(server, "turning", onnx("turning", OnnxModel.turning()));
            var endless = server.askAsync("turning", YEARS, JSON);
            await().until(EndlessForwardTest::isInside);

            assertThat(server.unload("turning").statusCode()).isEqualTo(200);

            assertThat(endless.join().statusCode()).isIn(503, 504);
            assertThat(isInside()).isFalse();
            load(server, "turning", directory.resolve("turning"));
            assertThat(server.ask("turning", "[[1, 2]]", JSON).body()).isEqualTo("[[1.0,2.0]]");
        }
    }

    @Test
    void aForwardThatCantBeEndedKeepsOneWorkerAndItsModelIsFreedWhenItLeaves() throws Exception {
        try (var server = TestServer.ofModels().set(TIMEOUT, "2").start();
                var log = new CapturedLog()) {
            load(server, "counts", torchscript("counts"));
            load(server, "doubled", torchscript("doubled"));
            var endless = server.askAsync("counts", LONG, JSON);
            await().until(EndlessForwardTest::isInside);
            while (!endless.isDone()) {
                assertDoubles(server);
            }
            assertThat(endless.join().statusCode()).isEqualTo(504);

            var unloaded = server.unload("counts");
            assertStatus(unloaded, 500, "one of its hooks does not end; what that uses is freed when it does");
            load(server, "counts", torchscript("counts"));
            assertThat(server.ask("counts", "[[3, 1]]", JSON).body()).isEqualTo("[[6.0,4.0]]");
            await().atMost(Duration.ofMinutes(5)).untilAsserted(() -> {
                assertDoubles(server);
                assertThat(log.text()).contains("counts: the hook has ended, and what it used is freed");
            });
        }
    }

    @Test
    void aProcessThatIsStoppedWhileAForwardRunsEndsWith0() throws Exception {
        var temporary = Files.createDirectory(directory.resolve("temporary"));
        for (var artifact : List.of(onnx("turning", OnnxModel.turning()), torchscript("counts"))) {
            try (var server =
                    ServeProcess.java(Map.of("BERTH_DRAIN_SECONDS", "1"), artifact, "-Djava.io.tmpdir=" + temporary)) {
                server.awaitReady();
                var endless = server.invokeAsync(YEARS, JSON);
                await().until(() -> server.get("/metrics").body().contains(ONE_HAS_BEGUN));

                assertThat(server.terminate().exitCode()).as(server.out()).isZero();
                assertThat(temporary).as("directories of an engine").isDirectoryNotContaining("glob:**onnx*");

                assertThat(endless.handle((answer, _) -> answer).join())
                        .satisfiesAnyOf(
                                answer -> assertThat(answer).isNull(),
                                answer -> assertThat(answer.statusCode()).isEqualTo(503));
            }
        }
    }

    private Path onnx(String name, OnnxModel model) throws IOException {
        model.write(Files.createDirectories(directory.resolve(name)).resolve("model.onnx"));
        return directory.resolve(name);
    }

    private Path torchscript(String name) throws IOException {
        var artifact = Files.createDirectories(directory.resolve(name));
        Files.copy(
                TestArtifact.TORCHSCRIPT.resolve(name + ".pt"),
                artifact.resolve("model.pt"),
                StandardCopyOption.REPLACE_EXISTING);
        return artifact;
    }

    private static void load(TestServer server, String name, Path artifact) throws Exception {
        var answer = server.load(name, artifact);
        assertStatus(answer, 200);
    }

    private static void assertDoubles(TestServer server) {
        assertThat(server.ask("doubled", "[[1, 2]]", JSON).body()).isEqualTo("[[2.0,4.0]]");
    }

    /// Whether a forward is inside an engine.
    private static boolean isInside() {
        return Thread.getAllStackTraces().values().stream()
                .flatMap(Arrays::stream)
                .anyMatch(frame -> frame.isNativeMethod() && FORWARDS.contains(frame.getMethodName()));
    }
}
