package dev.berth.http;

import static dev.berth.testing.TestServer.assertAll;
import static dev.berth.testing.TestServer.assertStatus;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.berth.testing.Gate;
import dev.berth.testing.GatedHandler;
import dev.berth.testing.RawConnection;
import dev.berth.testing.TestServer;
import dev.berth.testing.TextHandler;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Stream;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class InvocationsTest {

    @AutoClose
    private static TestServer server;

    @BeforeAll
    static void start() throws Exception {
        server = TestServer.with(new TextHandler()).start();
    }

    @Test
    @Tag("INV-01")
    void aValidBodyIsAnsweredWithItsContentType() throws Exception {
        var response = server.invoke("a\nb", "Accept", "text/plain");
        assertThat(response.statusCode()).isEqualTo(200);
        assertThat(response.body()).isEqualTo("A\nB");
        assertThat(response.headers().firstValue("Content-Type")).contains("text/plain");
    }

    @ParameterizedTest
    @CsvSource({"GET,/invocations,POST", "PUT,/inferences,POST", "DELETE,/metrics,GET", "PUT,/ping,'GET, POST'"})
    @Tag("INV-02")
    void anotherMethodIs405AndAllowSaysWhich(String method, String path, String allow) throws Exception {
        var response = server.send(HttpRequest.newBuilder(server.uri(path))
                .method(method, BodyPublishers.noBody())
                .build());
        assertThat(response.statusCode()).isEqualTo(405);
        assertThat(response.headers().firstValue("Allow")).contains(allow);
        assertThat(response.body()).contains(path).contains(allow);
    }

    @ParameterizedTest
    @CsvSource({
        "/invocation, /invocations",
        "/invocations/, /invocations",
        "/invocations/x, /invocations",
        "/Ping, /ping",
        "/ping/, /ping",
        "/v/metrics, /metrics",
        "/inference, /inferences",
        "/a, ",
        "/nope, ",
        "/model, "
    })
    @Tag("INV-03")
    void anUnknownPathIs404WithShortJsonThatNamesTheNearestOneOnly(String path, String nearest) throws Exception {
        var response = server.get(path);
        assertStatus(response, 404);
        assertThat(response.headers().firstValue("Content-Type").orElseThrow()).startsWith("application/json");
        assertThat(response.body())
                .hasSizeLessThan(500)
                .startsWith("{\"message\":\"\\\"%s\\\": no such path%s\""
                        .formatted(path, nearest == null ? "" : "; did you mean %s?".formatted(nearest)));
    }

    @Test
    @Tag("INV-04")
    @Tag("INV-05")
    void unknownHeadersAreIgnoredAndNamesMayHaveAnyCase() throws Exception {
        try (var connection = new RawConnection(server.port())) {
            connection.send("""
          POST /invocations HTTP/1.1\r
          host: x\r
          cOnTeNt-TyPe: text/plain\r
          ACCEPT: text/plain\r
          X-Foo: bar\r
          X-Amzn-SageMaker-Whatever: 1\r
          content-length: 1\r
          \r
          a""");
            assertThat(connection.readResponse())
                    .startsWith("HTTP/1.1 200")
                    .containsIgnoringCase("content-type: text/plain")
                    .endsWith("A");
        }
    }

    @Test
    @Tag("INV-13")
    void whatTheQueueHasNoRoomForIsRefusedAtOnceAndTheRestIsAnswered() throws Exception {
        var gate = new Gate(1);
        try (var server = TestServer.with(new GatedHandler(gate))
                .start("SAGEMAKER_MODEL_SERVER_WORKERS=1", "BERTH_QUEUE_CAPACITY=4")) {
            var running = server.invokeAsync("a");
            gate.awaitArrival();
            var others = Stream.generate(() -> server.invokeAsync("a")).limit(8).toList();
            await().until(() ->
                    others.stream().filter(CompletableFuture::isDone).count() == 4);
            var refused = others.stream()
                    .filter(CompletableFuture::isDone)
                    .map(CompletableFuture::join)
                    .toList();
            assertThat(refused).allSatisfy(response -> {
                assertThat(response.statusCode()).isEqualTo(503);
                assertThat(response.headers().firstValue("Retry-After")).isPresent();
                assertThat(response.body()).contains("overloaded");
            });
            assertThat(server.get("/ping").statusCode()).isEqualTo(200);
            gate.open();
            assertThat(running.get().body()).isEqualTo("A");
            assertThat(others.stream().map(CompletableFuture::join).filter(response -> response.statusCode() == 200))
                    .hasSize(4);
        }
    }

    @Test
    @Tag("ASY-02")
    void aThousandRequestsAtATimeAreAllTakenHoweverManyRowsTheyHave() throws Exception {
        var gate = new Gate(1);
        // Time enough for all to wait, however long the machine takes to send them.
        try (var server =
                TestServer.with(new GatedHandler(gate)).start("SAGEMAKER_MODEL_SERVER_TIMEOUT_SECONDS=100000")) {
            var rows = "a\nb\nc";
            var asked =
                    Stream.generate(() -> server.invokeAsync(rows)).limit(1000).toList();
            gate.awaitArrival();
            await().until(() ->
                    server.get("/metrics").body().contains("berth_requests_in_flight{model=\"model\"} 1000.0")
                            || asked.stream().anyMatch(CompletableFuture::isDone));
            gate.open();
            assertAll(asked, 200);
        }
    }

    @Test
    @Tag("INV-14")
    void aThousandPostsGoOverOneConnection() throws Exception {
        try (var connection = new RawConnection(server.port())) {
            for (int i = 0; i < 1000; i++) {
                connection.send("POST /invocations HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\n\r\na");
                assertThat(connection.readResponse()).startsWith("HTTP/1.1 200").endsWith("A");
            }
        }
    }

    @Test
    void requestsThatAreSentTogetherAreAnsweredInTurn() throws Exception {
        try (var connection = new RawConnection(server.port())) {
            connection.send("POST /invocations HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\n\r\na".repeat(20));
            for (int i = 0; i < 20; i++) {
                assertThat(connection.readResponse()).startsWith("HTTP/1.1 200").endsWith("A");
            }
        }
    }

    @Test
    @Tag("INV-15")
    void expectContinueIsAnsweredFirst() throws Exception {
        try (var connection = new RawConnection(server.port())) {
            connection.send(
                    "POST /invocations HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nExpect: 100-continue\r\n\r\n");
            assertThat(connection.readResponse()).startsWith("HTTP/1.1 100");
            connection.send("a");
            assertThat(connection.readResponse()).startsWith("HTTP/1.1 200").endsWith("A");
        }
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "GARBAGE\r\n\r\n",
                "GET /%2e%2e/etc/passwd HTTP/1.1\r\nHost: x\r\n\r\n",
                "POST /invocations HTTP/1.1\r\nHost: x\r\nContent-Length: -5\r\n\r\n",
                "POST /invocations HTTP/1.1\r\nContent-Length: 1\r\n\r\na",
                "POST /invocations HTTP/9.9\r\nHost: x\r\n\r\n",
                "\u0000\u0001\u0002\r\n\r\n",
                "POST /invocations HTTP/1.1\r\nHost: x\r\nBad Header: x\r\n\r\n",
                "PUT /invocations HTTP/1.1\r\nHost: x\r\nBad Header: x\r\n\r\n"
            })
    void whatIsNoHttpIsRefusedWithTheSameErrorBody(String request) throws Exception {
        try (var connection = new RawConnection(server.port())) {
            var response = connection.send(request).readResponse();
            assertThat(response).matches("(?s)HTTP/1.1 (4\\d\\d|505).*");
            assertThat(response)
                    .containsIgnoringCase("content-type: application/json")
                    .contains("{\"message\":");
        }
    }

    /// What is unread when a server closes a connection makes its kernel send a reset, and some
    /// clients then lose the answer.
    @Test
    void headersThatAreMuchTooLargeAreAnsweredToo() throws Exception {
        for (int i = 0; i < 300; i++) {
            var response = server.invoke("a", "X-Long", "a".repeat(31_000), "X-Longer", "b".repeat(31_000));
            assertStatus(response, 431, "\"code\":431");
        }
    }
}
