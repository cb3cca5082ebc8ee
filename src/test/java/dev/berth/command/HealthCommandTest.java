package dev.berth.command;

import static org.assertj.core.api.Assertions.assertThat;

import dev.berth.testing.ServeProcess;
import dev.berth.testing.TestServer;
import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.Map;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/// `serve health` beside a real server. `ContainerTest` runs it in a container.
@Tag("slow")
class HealthCommandTest {

    private final ByteArrayOutputStream printed = new ByteArrayOutputStream();

    private int health(Map<String, String> environment, Map<String, String> flags) {
        var err = new PrintStream(printed, true, StandardCharsets.UTF_8);
        return Commands.run(() -> HealthCommand.run(environment, flags), err);
    }

    private String printed() {
        return printed.toString(StandardCharsets.UTF_8);
    }

    @Test
    void aServerThatIsReadyIsHealthyAndNothingIsSaid() throws Exception {
        try (var server = TestServer.sample().start()) {
            var port = String.valueOf(server.port());
            assertThat(health(Map.of("SAGEMAKER_BIND_TO_PORT", port, "BERTH_HOST", "127.0.0.1"), Map.of()))
                    .isZero();
            assertThat(health(Map.of("PORT", "1"), Map.of("--port", port))).isZero();
            assertThat(printed()).isEmpty();
        }
    }

    @Test
    void aServerThatCannotServeIsNot() throws Exception {
        try (var server = TestServer.artifact(Path.of("docs")).startWithoutWaiting()) {
            assertThat(health(Map.of("PORT", String.valueOf(server.port())), Map.of()))
                    .isEqualTo(1);
            assertThat(printed())
                    .startsWith("http://127.0.0.1:%d/ping: found 503, expected 200: {".formatted(server.port()));
        }
    }

    @Test
    void aPortThatNobodyKnowsIsAProblem() {
        assertThat(health(Map.of("PORT", "0"), Map.of())).isEqualTo(2);
        assertThat(health(Map.of("PORT", "x"), Map.of())).isEqualTo(2);
        assertThat(printed().lines())
                .containsExactly(
                        "port: found 0, expected the one that the server listens on",
                        "PORT: found \"x\", expected a whole number from 0 to 65535");
    }

    @Test
    void aHostThatNoAddressCanHaveIsNoFailureOfTheModel() {
        assertThat(health(Map.of("BERTH_HOST", "a|b"), Map.of())).isEqualTo(1);
        assertThat(printed())
                .startsWith("the command can't go on: ")
                .contains("a|b")
                .hasLineCount(1);
    }

    @Test
    @Tag("packaged")
    void theLauncherRunsIt() throws Exception {
        try (var health = ServeProcess.serve(Map.of(), "health")) {
            assertThat(health.exitCode()).isEqualTo(1);
            assertThat(health.err())
                    .startsWith("http://127.0.0.1:%d/ping: ".formatted(health.port()))
                    .hasLineCount(1);
            assertThat(health.out()).isEmpty();
        }
    }
}
