package dev.berth.http;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.berth.hooks.BadInputException;
import dev.berth.hooks.InvocationRequest;
import dev.berth.hooks.MediaType;
import dev.berth.hooks.ModelContext;
import dev.berth.testing.Gate;
import dev.berth.testing.GatedHandler;
import dev.berth.testing.RawConnection;
import dev.berth.testing.TestServer;
import dev.berth.testing.TextHandler;
import java.io.IOException;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
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
    private static final String CLOSES = "\nConnection: close\n";

    private static TestServer server;

    @BeforeAll
    static void start() throws Exception {
        server = TestServer.with(new TextOrBytes())
                .set("SAGEMAKER_MAX_PAYLOAD_IN_MB", "10")
                .start();
    }

    @AfterAll
    static void stop() throws Exception {
        server.close();
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
        "400, 4, POST /v2/models/model/infer|Inference-Header-Content-Length: x",
        "404, 4, POST /v2/models/another/infer",
        "400, 4, POST /endpoints/any/async-invocations",
        "400, 4, POST /endpoints/any/invocations|X-Amzn-SageMaker-Target-Model: a",
        "400, 100000000000, POST /endpoints/any/invocations",
        "400, 100000000000, POST /endpoints/any/async-invocations",
        "400, 100000000000, POST /endpoints/any/invocations|Expect: 100-continue",
        "200, 4, POST /ping",
    })
    void whoseBodyComesLaterIsToldThatTheConnectionCloses(int status, long length, String request) throws Exception {
        try (var asks = new RawConnection(server.port())) {
            asks.send(head(request, length));
            assertThat(asks.readResponse()).startsWith("HTTP/1.1 " + status).containsIgnoringCase(CLOSES);
            assertThat(asks.readLine()).isNull();
        }
    }

    @Test
    void soIsOneWhoseModelIsNotReadyAndOneWhomAFullQueueRefuses() throws Exception {
        var loading = new Gate(1);
        var predicting = new Gate(1);
        var handler = new TextHandler() {
            @Override
            public Object modelFn(ModelContext context) throws Exception {
                loading.pass();
                return this;
            }
        };
        try (var unready = TestServer.with(handler).startWithoutWaiting();
                var full = TestServer.with(new GatedHandler(predicting))
                        .set("SAGEMAKER_MODEL_SERVER_WORKERS", "1")
                        .set("BERTH_QUEUE_CAPACITY", "1")
                        .start();
                var running = new RawConnection(full.port()).send(head(ASK, 1) + "a")) {
            loading.awaitArrival();
            predicting.awaitArrival();
            assertClosed(unready);
            try (var queued = new RawConnection(full.port()).send(head(ASK, 1) + "b")) {
                await().until(() -> full.get("/metrics").body().contains("berth_queue_depth{model=\"model\"} 1.0"));
                assertClosed(full);
                loading.open();
                predicting.open();
                assertThat(running.readResponse()).startsWith("HTTP/1.1 200");
                assertThat(queued.readResponse()).startsWith("HTTP/1.1 200");
            }
        }
    }

    private static void assertClosed(TestServer server) throws IOException {
        try (var asks = new RawConnection(server.port()).send(head(ASK, 4))) {
            assertThat(asks.readResponse()).startsWith("HTTP/1.1 503").containsIgnoringCase(CLOSES);
            assertThat(asks.readLine()).isNull();
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
        "400, 4, POST /v2/models/model/infer|Inference-Header-Content-Length: x",
        "400, 30000000, POST /endpoints/any/invocations",
        "400, 200000, POST /endpoints/any/async-invocations",
        "400, 4, POST /endpoints/any/invocations|X-Amzn-SageMaker-Target-Model: a",
        "200, 20000, POST /ping",
    })
    void theConnectionStaysWhereTheBodyIsThere(int status, int length, String request) throws Exception {
        try (var asks = new RawConnection(server.port())) {
            for (int i = 0; i < 2; i++) {
                asks.send(head(request, length) + " ".repeat(length));
                assertThat(asks.readResponse())
                        .startsWith("HTTP/1.1 " + status)
                        .doesNotContainIgnoringCase("Connection:");
            }
            asks.send(head(ASK, 1) + "a");
            assertThat(asks.readResponse()).startsWith("HTTP/1.1 200").endsWith("A");
        }
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
                asks.send(head("POST /invocations|Content-Type: application/octet-stream", 9_000_000));
                asks.send(" ".repeat(9_000_000));
                assertThat(asks.readResponse())
                        .startsWith("HTTP/1.1 200")
                        .doesNotContainIgnoringCase("Connection:")
                        .endsWith("BYTES");
            }
        }
    }

    /// @param lines the request's method and path, and headers, between bars
    private static String head(String lines, long length) {
        var rest = lines.split("\\|", 2);
        return "%s HTTP/1.1\r\nHost: localhost\r\nContent-Length: %d\r\n%s\r\n"
                .formatted(rest[0], length, rest.length > 1 ? rest[1].replace("|", "\r\n") + "\r\n" : "");
    }
}
