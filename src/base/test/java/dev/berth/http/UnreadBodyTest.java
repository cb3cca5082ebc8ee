package dev.berth.http;

import static org.assertj.core.api.Assertions.assertThat;

import dev.berth.error.ErrorType;
import dev.berth.hooks.BadInputException;
import dev.berth.hooks.InvocationRequest;
import dev.berth.hooks.MediaType;
import dev.berth.testing.Gate;
import dev.berth.testing.GatedHandler;
import dev.berth.testing.RawConnection;
import dev.berth.testing.TestServer;
import dev.berth.testing.TextHandler;
import dev.berth.testing.UnreadBodies;
import java.io.IOException;
import java.util.List;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/// Answers that go out before their request's body was read to its end. The connection of one whose
/// body may still come is closed, and a client that is not told sends its next request into it.
class UnreadBodyTest {

    /// Reads plain text and writes it. A body that begins with a blank is bad, and one of
    /// `application/octet-stream` is not read.
    private static final class TextOrBytes extends TextHandler {
        @Override
        public List<String> inputFn(InvocationRequest request) throws IOException {
            if (request.contentType().equals(MediaType.BYTES)) {
                return List.of("bytes");
            }
            var records = super.inputFn(request);
            if (records.getFirst().startsWith(" ")) {
                throw new BadInputException("body: it begins with a blank");
            }
            return records;
        }

        @Override
        public List<MediaType> requestTypes() {
            return List.of(MediaType.TEXT, MediaType.BYTES);
        }

        @Override
        public List<MediaType> responseTypes() {
            return List.of(MediaType.TEXT);
        }
    }

    private static final String ASK = "POST /invocations|Content-Type: text/plain";

    @AutoClose
    private static TestServer server;

    @BeforeAll
    static void start() throws Exception {
        server = TestServer.with(new TextOrBytes()).start("SAGEMAKER_MAX_PAYLOAD_IN_MB=10");
    }

    @ParameterizedTest
    @CsvSource({
        "404, 4, POST /nowhere",
        "405, 4, PUT /ping",
        "406, 4, POST /invocations|Content-Type: text/plain|Accept: image/png",
        "415, 4, POST /invocations|Content-Type: audio/mpeg",
        "415, 4, POST /invocations|Content-Type: text/plain|Content-Encoding: br",
        "413, 20000000, POST /invocations|Content-Type: text/plain",
        "413, 20000000, POST /invocations|Content-Type: text/plain|Expect: 100-continue",
        "200, 4, POST /ping",
    })
    @Tag("INV-08")
    @Tag("INV-15")
    void whoseBodyComesLaterIsToldThatTheConnectionCloses(int status, long length, String request) throws Exception {
        UnreadBodies.assertClosed(server, request, length, status);
    }

    @Test
    @Tag("INV-13")
    void soIsOneWhoseModelIsNotReadyAndOneWhomAFullQueueRefuses() throws Exception {
        var loading = new Gate(1);
        var predicting = new Gate(1);
        try (var unready = TestServer.with(TextHandler.before("modelFn", _ -> loading.pass()))
                        .startWithoutWaiting();
                var full = TestServer.with(new GatedHandler(predicting))
                        .start("SAGEMAKER_MODEL_SERVER_WORKERS=1", "BERTH_QUEUE_CAPACITY=1");
                var running = new RawConnection(full.port()).send(UnreadBodies.head(ASK, 1) + "a")) {
            loading.awaitArrival();
            predicting.awaitArrival();
            UnreadBodies.assertClosed(unready, ASK, 4, 503);
            try (var queued = new RawConnection(full.port()).send(UnreadBodies.head(ASK, 1) + "b")) {
                full.awaitQueued(1);
                UnreadBodies.assertClosed(full, ASK, 4, ErrorType.OVERLOADED.status());
                loading.open();
                predicting.open();
                assertThat(running.readResponse()).startsWith("HTTP/1.1 200");
                assertThat(queued.readResponse()).startsWith("HTTP/1.1 200");
            }
        }
    }

    /// What arrived with the head, or soon after it, is read whether anybody wants it or not.
    @ParameterizedTest
    @CsvSource({
        "404, 4, POST /nowhere",
        "405, 4, PUT /ping",
        "406, 4, POST /invocations|Content-Type: text/plain|Accept: image/png",
        "415, 200000, POST /invocations|Content-Type: audio/mpeg",
        "413, 20000000, POST /invocations|Content-Type: text/plain",
        "400, 4, POST /invocations|Content-Type: text/plain",
        "200, 20000, POST /ping",
    })
    void theConnectionStaysWhereTheBodyIsThere(int status, int length, String request) throws Exception {
        UnreadBodies.assertRead(server, request, length, status);
    }

    @Test
    void theConnectionStaysWhereThereIsNoBody() throws Exception {
        try (var asks = new RawConnection(server.port())) {
            for (int i = 0; i < 2; i++) {
                asks.send("GET /nowhere HTTP/1.1\r\nHost: localhost\r\n\r\n");
                assertThat(asks.readResponse()).startsWith("HTTP/1.1 404").doesNotContainIgnoringCase("Connection:");
            }
        }
    }

    /// The body is whole before the hook runs.
    @Test
    void theConnectionStaysWhereAHookDoesNotReadItsBody() throws Exception {
        try (var asks = new RawConnection(server.port())) {
            for (int i = 0; i < 2; i++) {
                asks.send(UnreadBodies.head("POST /invocations|Content-Type: application/octet-stream", 9_000_000));
                asks.send(" ".repeat(9_000_000));
                assertThat(asks.readResponse())
                        .startsWith("HTTP/1.1 200")
                        .doesNotContainIgnoringCase("Connection:")
                        .endsWith("BYTES");
            }
        }
    }
}
