package dev.berth.command;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.berth.testing.CodeArtifact;
import dev.berth.testing.ServeProcess;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/// How `./serve` ends when it is told to by a signal, whatever its hooks do.
@Tag("packaged")
class ServeStopTest {

    private static final String FOR_EVER = "new CountDownLatch(1).await();";

    @TempDir
    private Path directory;

    @Test
    @Tag("RUN-06")
    void aCloseThatNeverEndsIsCutOffAndSaid() throws Exception {
        hooks("", FOR_EVER);
        try (var server = serve().awaitReady()) {
            assertThat(server.terminate().exitCode()).isEqualTo(OrderlyStop.FORCED);
            assertThat(server.out())
                    .contains("the server did not stop within 8 s; the process ends with 3")
                    .contains("Inference.close(Inference.java");
        }
    }

    /// An interrupted acceptor closes its channel, and Jetty starts no other one.
    @Test
    void aProcessWhoseListenerHasDiedEndsAndSaysSo() throws Exception {
        hooks("""
        Thread.ofPlatform().daemon().start(() -> {
          while (!java.nio.file.Files.exists(java.nio.file.Path.of("%s"))) { Thread.onSpinWait(); }
          Thread.getAllStackTraces().keySet().stream()
              .filter(thread -> thread.getName().contains("-acceptor-")).forEach(Thread::interrupt);
        });
        """.formatted(directory.resolve("now")), "");
        try (var server = serve().awaitReady()) {
            Files.createFile(directory.resolve("now"));
            assertThat(server.exitCode()).isEqualTo(OrderlyStop.FORCED);
            assertThat(server.out()).contains("/ping had no answer 3 times");
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"TERM", "HUP"})
    @Tag("RUN-06")
    void aSignalEndsItWith0AndAnotherIsIgnored(String signal) throws Exception {
        hooks("", "");
        try (var server = serve().awaitReady()) {
            send("USR1", server);
            assertThat(server.get("/ping").statusCode()).isEqualTo(200);
            send(signal, server);
            assertThat(server.exitCode()).isZero();
            assertThat(server.out()).contains("stopped");
        }
    }

    @Test
    @Tag("RUN-06")
    void itEndsWith0WhileItLoads() throws Exception {
        hooks(FOR_EVER, "");
        try (var server = serve()) {
            await().until(() -> server.out().contains("INFO"));
            assertThat(server.terminate().exitCode()).isZero();
        }
    }

    /// What runs the tests may ignore SIGHUP, as nohup does, and then the server would too.
    private ServeProcess serve() throws IOException {
        return ServeProcess.start(
                Map.of("INSTANCE_TYPE", "cpu", "BERTH_DRAIN_SECONDS", "1"),
                List.of("env", "--default-signal=HUP,INT,TERM", "./serve", "--model-dir", directory.toString()));
    }

    private static void send(String signal, ServeProcess server) throws Exception {
        var kill = new ProcessBuilder(
                        "kill", "-" + signal, String.valueOf(server.process().pid()))
                .inheritIO()
                .start();
        assertThat(kill.waitFor()).isZero();
    }

    /// @param constructor the statements of the hooks' constructor
    /// @param close those of `close`
    private void hooks(String constructor, String close) throws IOException {
        CodeArtifact.plain(directory, """
        public Inference() throws InterruptedException { %s }
        public void close() throws InterruptedException { %s }
        public Object modelFn(ModelContext context) { return null; }
        """.formatted(constructor, close));
    }
}
