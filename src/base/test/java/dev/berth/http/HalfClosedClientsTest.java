package dev.berth.http;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.berth.testing.Gate;
import dev.berth.testing.GatedHandler;
import dev.berth.testing.RawConnection;
import dev.berth.testing.TestServer;
import java.io.IOException;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/// A client that closes its side counts as one that has left. Each of these requests waits in the
/// queue until its client has closed.
@Timeout(600)
class HalfClosedClientsTest {

    private static final String REQUEST = "POST /invocations HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\n\r\n";

    @Test
    void aRequestThatWasSentAlongDoesNotHideTheAnswerOfTheFirst() throws Exception {
        try (var server = new BusyServer();
                var client = new RawConnection(server.port())) {
            client.send(REQUEST + "b" + REQUEST + "c");
            server.awaitQueued(1);
            server.openGate();
            assertThat(client.readResponse()).startsWith("HTTP/1.1 200").endsWith("\n\nB");
            assertThat(client.readResponse()).startsWith("HTTP/1.1 200").endsWith("\n\nC");
        }
    }

    @Test
    void aClientThatHasLeftIs499AndTheModelDoesNotSeeItsRecord() throws Exception {
        try (var server = new BusyServer()) {
            try (var client = new RawConnection(server.port())) {
                client.send(REQUEST + "b");
                server.awaitQueued(1);
            }
            server.openGate();
            await().until(() -> server.metrics().contains("status=\"499\"} 1.0"));
            assertThat(server.predicted()).isEqualTo(1);
        }
    }

    @Test
    void aClientThatClosesItsSideCountsAsOneThatHasLeft() throws Exception {
        try (var server = new BusyServer()) {
            try (var client = new RawConnection(server.port())) {
                client.send(REQUEST + "b").socket().shutdownOutput();
                server.awaitQueued(1);
            }
            server.openGate();
            await().until(() -> server.metrics().contains("status=\"499\"} 1.0"));
            assertThat(server.predicted()).isEqualTo(1);
        }
    }

    /// A server whose only worker waits at a gate with the first request.
    private static final class BusyServer implements AutoCloseable {
        private final Gate gate = new Gate(1);
        private final GatedHandler handler = new GatedHandler(gate);
        private final TestServer server;
        private final CompletableFuture<?> first;

        BusyServer() throws Exception {
            this.server = TestServer.with(handler).start("SAGEMAKER_MODEL_SERVER_WORKERS=1");
            this.first = server.invokeAsync("first");
            gate.awaitArrival();
        }

        int port() {
            return server.port();
        }

        String metrics() throws IOException, InterruptedException {
            return server.get("/metrics").body();
        }

        int predicted() {
            return handler.predicted();
        }

        void awaitQueued(int count) {
            await().until(() -> metrics().contains("berth_queue_depth{model=\"model\"} %d.0".formatted(count)));
        }

        void openGate() {
            gate.open();
            first.join();
        }

        @Override
        public void close() throws Exception {
            gate.open();
            server.close();
        }
    }
}
