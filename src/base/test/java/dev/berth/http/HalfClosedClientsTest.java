package dev.berth.http;

import static org.assertj.core.api.Assertions.assertThat;

import dev.berth.testing.CapturedLog;
import dev.berth.testing.Gate;
import dev.berth.testing.GatedHandler;
import dev.berth.testing.RawConnection;
import dev.berth.testing.TestServer;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/// A client that closes its side counts as one that has left. Each of these requests waits in the
/// queue until its client has closed.
@Timeout(600)
class HalfClosedClientsTest {

    private static final String REQUEST = "POST /invocations HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\n\r\n";

    private final Gate gate = new Gate(1);
    private final GatedHandler handler = new GatedHandler(gate);

    @AutoClose
    private TestServer server;

    private CompletableFuture<?> first;

    /// The only worker waits at the gate with the first request.
    @BeforeEach
    void occupyTheWorker() throws Exception {
        server = TestServer.with(handler).start("SAGEMAKER_MODEL_SERVER_WORKERS=1");
        first = server.invokeAsync("first");
        gate.awaitArrival();
    }

    @Test
    void aRequestThatWasSentAlongDoesNotHideTheAnswerOfTheFirst() throws Exception {
        try (var client = new RawConnection(server.port())) {
            client.send(REQUEST + "b" + REQUEST + "c");
            server.awaitQueued(1);
            gate.open();
            assertThat(client.readResponse()).startsWith("HTTP/1.1 200").endsWith("\n\nB");
            assertThat(client.readResponse()).startsWith("HTTP/1.1 200").endsWith("\n\nC");
        }
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void aClientThatHasLeftIs499AndTheModelDoesNotSeeItsRecord(boolean closesItsSideOnly) throws Exception {
        try (var log = new CapturedLog()) {
            try (var client = new RawConnection(server.port())) {
                client.send(REQUEST + "b");
                if (closesItsSideOnly) {
                    client.socket().shutdownOutput();
                }
                server.awaitQueued(1);
            }
            var last = server.invokeAsync("last");
            server.awaitQueued(2);
            gate.open();
            first.join();
            assertThat(last.join().body()).isEqualTo("LAST");
            server.awaitMetrics("status=\"499\"} 1.0", "berth_abandoned_total{model=\"model\"} 1.0");
            assertThat(handler.predicted()).isEqualTo(2);
            assertThat(log.text()).doesNotContain("ERROR");
        }
    }
}
