package dev.berth.http;

import static dev.berth.testing.TestServer.assertStatus;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.berth.hooks.InvocationResponse;
import dev.berth.testing.CapturedLog;
import dev.berth.testing.RawConnection;
import dev.berth.testing.TestServer;
import dev.berth.testing.TextHandler;
import java.io.ByteArrayInputStream;
import java.io.OutputStream;
import java.net.http.HttpRequest.BodyPublishers;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/// Bodies of every size and speed, in both directions.
class PayloadTest {

    /// Answers how many bytes it got, read as a stream.
    private static final TextHandler COUNTING =
            TextHandler.reading(request -> List.of("" + request.body().transferTo(OutputStream.nullOutputStream())));

    @AutoClose
    private TestServer server;

    @ParameterizedTest
    @CsvSource({"6291456, ''", "25000000, ''", "26214400, ''", "47185920, SAGEMAKER_MAX_PAYLOAD_IN_MB=50"})
    @Tag("INV-06")
    @Tag("INV-07")
    @Tag("INV-09")
    void bodiesAsLargeAsThePlatformOrTheVariableAllowsAreTaken(int size, String variable) throws Exception {
        server = TestServer.with(COUNTING).start(variable.isEmpty() ? new String[0] : new String[] {variable});
        assertThat(server.invoke(BodyPublishers.ofByteArray(new byte[size])).body())
                .isEqualTo(String.valueOf(size));
    }

    @Test
    @Tag("INV-08")
    void aBodyAboveTheLimitIs413AndTheServerLivesOn() throws Exception {
        server = TestServer.with(COUNTING).start("SAGEMAKER_MAX_PAYLOAD_IN_MB=1");
        var body = new byte[20 << 20];
        var declared = server.invoke(BodyPublishers.ofByteArray(body));
        assertStatus(declared, 413, "20971520", "1048576", "SAGEMAKER_MAX_PAYLOAD_IN_MB");
        var chunked = server.invoke(BodyPublishers.ofInputStream(() -> new ByteArrayInputStream(body)));
        assertThat(chunked.statusCode()).isEqualTo(413);
        assertThat(server.get("/ping").statusCode()).isEqualTo(200);
        assertThat(server.invoke("abc").body()).isEqualTo("3");
    }

    @Test
    @Tag("INV-11")
    void anEmptyBodyIs400ForTheSampleModel() throws Exception {
        server = TestServer.sample().start();
        for (var type : List.of("application/json", "application/jsonlines", "text/csv")) {
            var response = server.invoke("", "Content-Type", type);
            assertStatus(response, 400, "body: found nothing");
        }
    }

    @Test
    @Tag("INV-16")
    @Tag("ASY-04")
    void aResponseOf30MegabytesArrivesWholeAndSaysHowLongItIs() throws Exception {
        server = TestServer.with(answering(30 << 20)).start();
        var response = server.invoke("a");
        assertThat(response.body()).hasSize(30 << 20);
        assertThat(response.headers().firstValueAsLong("Content-Length")).hasValue(30 << 20);
    }

    @Test
    void aCallerWhoLeavesInTheMiddleOfItsAnswerHarmsNobody() throws Exception {
        server = TestServer.with(answering(30 << 20)).start();
        try (var log = new CapturedLog()) {
            try (var connection = new RawConnection(server.port())) {
                connection.send("POST /invocations HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\n\r\na");
                assertThat(connection.readLine()).startsWith("HTTP/1.1 200");
                connection.socket().setSoLinger(true, 0);
            }
            await().until(() -> log.text().contains("the caller has gone before its answer was sent"));
            assertThat(log.text()).doesNotContain("ERROR");
            assertThat(server.invoke("a").statusCode()).isEqualTo(200);
        }
    }

    private static TextHandler answering(int length) {
        var answer = new byte[length];
        Arrays.fill(answer, (byte) 'x');
        return TextHandler.writing((predictions, request) -> InvocationResponse.of(answer, request.accept()));
    }

    @Test
    void aBodyThatEndsEarlyIsTheCallersFault() throws Exception {
        server = TestServer.with(COUNTING).start();
        try (var log = new CapturedLog()) {
            try (var connection = new RawConnection(server.port())) {
                connection.send("POST /invocations HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\n\r\nabc");
                connection.socket().shutdownOutput();
                assertThat(connection.readAll()).startsWith("HTTP/1.1 400");
            }
            assertThat(log.text()).doesNotContain("ERROR");
            assertThat(server.get("/ping").statusCode()).isEqualTo(200);
        }
    }

    @Test
    @Tag("INV-08")
    void aLargeBodyThatIsRefusedEarlyIsToldWhy() throws Exception {
        server = TestServer.sample().start();
        var body = new byte[40 << 20];
        assertStatus(server.invoke(BodyPublishers.ofByteArray(body), "Content-Type", "image/png"), 415);
        assertStatus(server.invoke(BodyPublishers.ofByteArray(body), "Accept", "image/png"), 406);
    }

    @Test
    void manyLargePayloadsAtOnceWaitForEachOther() throws Exception {
        server = TestServer.sample().start();
        var question = "{\"question\": \"Who came?\", \"context\": \"Bob came.\"%s}".formatted(" ".repeat(30 << 20));
        var all = Stream.generate(() -> server.invokeAsync(question)).limit(6).toList();
        assertThat(all).allSatisfy(response -> assertThat(response.get().body()).startsWith("{\"answer\":\"Bob\""));
    }
}
