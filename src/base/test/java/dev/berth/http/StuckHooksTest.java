package dev.berth.http;

import static dev.berth.testing.TestServer.assertAll;
import static dev.berth.testing.TestServer.assertStatus;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import ch.qos.logback.classic.spi.ThrowableProxyUtil;
import dev.berth.memory.RequestMemory;
import dev.berth.testing.CapturedLog;
import dev.berth.testing.Gate;
import dev.berth.testing.TestServer;
import dev.berth.testing.TextHandler;
import java.net.http.HttpResponse;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/// A server whose hooks do not end says so, and serves again when they do.
@Tag("slow")
@Timeout(600)
class StuckHooksTest {

    private final AtomicInteger wedged = new AtomicInteger();
    private final Gate end = new Gate(1);

    /// Waits in one hook, whoever interrupts, where the body says `wedge`.
    private TextHandler wedging(String wedging) {
        return TextHandler.before(wedging, lines -> {
            if (lines.contains("wedge")) {
                wedged.incrementAndGet();
                end.passWhateverInterrupts();
            }
        });
    }

    @Test
    @Tag("PING-09")
    void whenPredictFnEndsOnNoWorkerPingIs503AndRequestsAreRefusedAtOnce() throws Exception {
        try (var server = start(wedging("predictFn"));
                var log = new CapturedLog()) {
            var wedged = wedge(server, 2);
            assertAll(wedged, 504);
            await().untilAsserted(
                            () -> assertThat(server.get("/ping").statusCode()).isEqualTo(503));

            assertThat(server.get("/ping").body()).contains("no worker left that can predict");
            assertStatus(server.invoke("fine"), 503, "no worker that can predict; hooks that do not end: 2");
            assertThat(server.get("/metrics").body())
                    .contains("berth_workers{model=\"model\"} 0.0", "berth_stuck_hooks{model=\"model\"} 2.0");
            assertThat(log.events().stream()
                            .filter(event -> event.getFormattedMessage().startsWith("predictFn is stuck")))
                    .hasSize(2)
                    .allSatisfy(event -> assertThat(ThrowableProxyUtil.asString(event.getThrowableProxy()))
                            .contains("Gate.passWhateverInterrupts"));

            end.open();
            await().untilAsserted(
                            () -> assertThat(server.get("/ping").statusCode()).isEqualTo(200));
            assertServes(server);
        }
    }

    @Test
    @Tag("PING-09")
    void whenInputFnEndsOnNoThreadPingIs503() throws Exception {
        try (var server = start(wedging("inputFn"))) {
            var wedged = wedge(server, 32);
            assertAll(wedged, 504);
            // Some of their threads are replaced.
            server.awaitMetrics("berth_stuck_hooks{model=\"model\"} 32.0");
            assertThat(server.get("/ping").statusCode()).isEqualTo(200);
            assertServes(server);

            var more = wedge(server, 40);
            assertAll(more, 504);
            await().untilAsserted(
                            () -> assertThat(server.get("/ping").statusCode()).isEqualTo(503));

            end.open();
            await().untilAsserted(
                            () -> assertThat(server.get("/ping").statusCode()).isEqualTo(200));
            assertServes(server);
        }
    }

    /// @param hooks how many are to hang, those before included
    private List<CompletableFuture<HttpResponse<String>>> wedge(TestServer server, int hooks) {
        return TestServer.hang(hooks, wedged::get, () -> server.invokeAsync("wedge"));
    }

    private static void assertServes(TestServer server) {
        await().untilAsserted(() -> assertThat(server.invoke("fine").body()).isEqualTo("FINE"));
    }

    private static TestServer start(TextHandler handler) throws Exception {
        return TestServer.with(handler)
                .start(
                        "SAGEMAKER_MODEL_SERVER_WORKERS=2",
                        "SAGEMAKER_MODEL_SERVER_TIMEOUT_SECONDS=2",
                        "BERTH_STUCK_SECONDS=1");
    }

    /// Hooks of large requests take no thread from small ones, and those that wait for memory let others
    /// run.
    @ParameterizedTest
    @CsvSource({"32, wait, 300000", "100, wait for memory, 0"})
    void hooksThatWaitLetOthersRun(int count, String waits, int more) throws Exception {
        var handler = TextHandler.before("inputFn", lines -> {
            if (lines.getFirst().startsWith("wait")) {
                wedged.incrementAndGet();
                if (lines.getFirst().startsWith("wait for memory")) {
                    RequestMemory.waiting();
                }
                end.pass();
            }
        });
        try (var server = TestServer.with(handler).start()) {
            var body = waits + " ".repeat(more);
            var all = TestServer.hang(count, wedged::get, () -> server.invokeAsync(body));
            assertThat(server.invoke("small").body()).isEqualTo("SMALL");
            end.open();
            assertAll(all, 200);
        }
    }
}
