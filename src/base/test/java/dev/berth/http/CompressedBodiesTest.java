package dev.berth.http;

import static dev.berth.testing.TestServer.assertStatus;
import static org.assertj.core.api.Assertions.assertThat;

import dev.berth.hooks.InvocationResponse;
import dev.berth.hooks.MediaType;
import dev.berth.testing.RawConnection;
import dev.berth.testing.TestServer;
import dev.berth.testing.TextHandler;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublisher;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.Locale;
import java.util.zip.DeflaterOutputStream;
import java.util.zip.GZIPInputStream;
import java.util.zip.GZIPOutputStream;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/// Bodies and answers with a `Content-Encoding`.
@Timeout(300)
class CompressedBodiesTest {

    private static final int LIMIT = 1 << 20;

    /// What is answered compressed, where it is text.
    private static final int LONG = 16 << 10;

    @AutoClose
    private static TestServer server;

    @BeforeAll
    static void start() throws Exception {
        server = TestServer.with(new TextHandler()).start("SAGEMAKER_MAX_PAYLOAD_IN_MB=1", "BERTH_COMPRESSION=true");
    }

    private static byte[] packed(String coding, byte[] plain) throws IOException {
        var packed = new ByteArrayOutputStream();
        try (var out = coding.endsWith("gzip") ? new GZIPOutputStream(packed) : new DeflaterOutputStream(packed)) {
            out.write(plain);
        }
        return packed.toByteArray();
    }

    private static byte[] packed(String coding, String plain) throws IOException {
        return packed(coding, plain.getBytes(StandardCharsets.UTF_8));
    }

    private static BodyPublisher chunked(byte[] body) {
        return BodyPublishers.ofInputStream(() -> new ByteArrayInputStream(body));
    }

    private static HttpResponse<String> invoke(String coding, byte[] body) throws Exception {
        return server.invoke(
                BodyPublishers.ofByteArray(body), "Content-Type", "text/plain", "Content-Encoding", coding);
    }

    @ParameterizedTest
    @ValueSource(strings = {"gzip", "GZIP", "deflate"})
    void bodiesAreInflated(String coding) throws Exception {
        var name = coding.toLowerCase(Locale.ROOT);
        var text = "abc\n".repeat(10_000);
        assertThat(invoke(coding, packed(name, text)).body())
                .isEqualTo(text.strip().toUpperCase(Locale.ROOT));
        var inChunks =
                server.invoke(chunked(packed(name, "ab")), "Content-Type", "text/plain", "Content-Encoding", coding);
        assertThat(inChunks.body()).isEqualTo("AB");
        assertThat(invoke("identity", "ab".getBytes(StandardCharsets.UTF_8)).body())
                .isEqualTo("AB");
    }

    @ParameterizedTest
    @ValueSource(strings = {"gzip", "deflate"})
    void aBodyThatWouldBeTooLargeIs413AtTheLimit(String coding) throws Exception {
        var fits = new byte[LIMIT];
        Arrays.fill(fits, (byte) 'a');
        assertThat(invoke(coding, packed(coding, fits)).statusCode()).isEqualTo(200);
        var bomb = packed(coding, new byte[400 << 20]);
        assertThat(bomb.length).isLessThan(LIMIT);
        var response = invoke(coding, bomb);
        assertStatus(response, 413, "body: found more than 1048576 bytes", "SAGEMAKER_MAX_PAYLOAD_IN_MB");
    }

    @Test
    void aBodyOfWhichTooMuchArrivesIs413ThoughNothingIsInIt() throws Exception {
        var empty = new ByteArrayOutputStream();
        empty.writeBytes(HexFormat.of().parseHex("1f8b0800000000000000"));
        while (empty.size() < 2 * LIMIT) {
            // A block of nothing.
            empty.writeBytes(HexFormat.of().parseHex("000000ffff"));
        }
        assertThat(invoke("gzip", empty.toByteArray()).statusCode()).isEqualTo(413);
        var inChunks =
                server.invoke(chunked(empty.toByteArray()), "Content-Type", "text/plain", "Content-Encoding", "gzip");
        assertThat(inChunks.statusCode()).isEqualTo(413);
    }

    @ParameterizedTest
    @ValueSource(strings = {"1f8b0808000000000000", "1f8b0810000000000000"})
    void aHeaderWhoseNameOrCommentDoesNotEndIs400(String header) throws Exception {
        var body = new byte[LIMIT / 2];
        Arrays.fill(body, (byte) 'a');
        System.arraycopy(HexFormat.of().parseHex(header), 0, body, 0, header.length() / 2);
        var response = invoke("gzip", body);
        assertStatus(response, 400, "found a header of more than 8192 bytes");
    }

    @ParameterizedTest
    @ValueSource(strings = {"gzip", "deflate"})
    void bodiesThatStallKeepNoOthersFromBeingInflated(String coding) throws Exception {
        var body = packed(coding, "ab");
        var head =
                "POST /invocations HTTP/1.1\r\nHost: x\r\nContent-Type: text/plain\r\nContent-Encoding: %s\r\nContent-Length: %d\r\n\r\n"
                        .formatted(coding, body.length);
        var stalled = new ArrayList<RawConnection>();
        for (int i = 0; i < 2 * Runtime.getRuntime().availableProcessors(); i++) {
            stalled.add(new RawConnection(server.port()).send(head).send(Arrays.copyOf(body, body.length / 2)));
        }
        assertThat(invoke(coding, body).body()).isEqualTo("AB");
        for (var connection : stalled) {
            connection.send(Arrays.copyOfRange(body, body.length / 2, body.length));
            assertThat(connection.readResponse()).startsWith("HTTP/1.1 200").endsWith("AB");
            connection.close();
        }
    }

    @Test
    @Tag("slow")
    void healthIsAnsweredWhileManyAreInflated() throws Exception {
        var body = packed("gzip", new byte[25 << 20]);
        var head =
                "POST /invocations HTTP/1.1\r\nHost: x\r\nContent-Type: text/plain\r\nContent-Encoding: gzip\r\nContent-Length: %d\r\n\r\n"
                        .formatted(body.length);
        var sent = new ArrayList<RawConnection>();
        try (var other = TestServer.with(new TextHandler())
                .start("SAGEMAKER_MAX_PAYLOAD_IN_MB=30", "SAGEMAKER_MODEL_SERVER_TIMEOUT_SECONDS=1")) {
            try {
                for (int i = 0; i < 30; i++) {
                    sent.add(new RawConnection(other.port()).send(head).send(body));
                }
                for (int i = 0; i < 15; i++) {
                    long begin = System.nanoTime();
                    try (var asks = new RawConnection(other.port())) {
                        asks.send("GET /ping HTTP/1.1\r\nHost: x\r\n\r\n");
                        assertThat(asks.readResponse()).startsWith("HTTP/1.1 200");
                    }
                    assertThat(Duration.ofNanos(System.nanoTime() - begin)).isLessThan(Duration.ofSeconds(1));
                }
            } finally {
                for (var connection : sent) {
                    connection.close();
                }
            }
        }
    }

    @Test
    void manyMembersWithoutContentAre400() throws Exception {
        var empty = packed("gzip", "");
        var all = new ByteArrayOutputStream();
        while (all.size() < LIMIT / 2) {
            all.writeBytes(empty);
        }
        var response = invoke("gzip", all.toByteArray());
        assertStatus(response, 400, "found 100 members without content");
    }

    @ParameterizedTest
    @ValueSource(strings = {"gzip", "deflate"})
    void whatIsDamagedOrCutOffIs400(String coding) throws Exception {
        var whole = packed(coding, "some text that is long enough");
        var flipped = whole.clone();
        flipped[whole.length - 2] ^= 1;
        var longer = Arrays.copyOf(whole, whole.length + 3);
        longer[whole.length] = 7;
        for (var body : List.of(
                new byte[0],
                "plain text".getBytes(StandardCharsets.UTF_8),
                Arrays.copyOf(whole, 1),
                Arrays.copyOf(whole, whole.length - 1),
                Arrays.copyOf(whole, whole.length / 2),
                flipped,
                longer)) {
            var response = invoke(coding, body);
            assertThat(response.statusCode()).isEqualTo(400);
            assertThat(response.body())
                    .startsWith("{\"message\":\"body: it is not whole %s, as Content-Encoding says: ".formatted(coding))
                    .doesNotContain("null");
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"br", "zstd", "gzip, gzip", "compress"})
    void otherCodingsAre415(String coding) throws Exception {
        var response = invoke(coding, new byte[10]);
        assertThat(response.statusCode()).isEqualTo(415);
        assertThat(response.headers().firstValue("Accept-Encoding")).hasValue("gzip, deflate");
        assertThat(response.body())
                .contains("Content-Encoding: found \\\"%s\\\", expected one of gzip, deflate, identity"
                        .formatted(coding));
    }

    @Test
    void aLoadOfAModelTakesThemToo() throws Exception {
        try (var many = TestServer.ofModels().start()) {
            var response = many.send(HttpRequest.newBuilder(many.uri("/models"))
                    .header("Content-Type", "application/json")
                    .header("Content-Encoding", "gzip")
                    .POST(BodyPublishers.ofByteArray(packed("gzip", "{\"model_name\": 3}")))
                    .build());
            assertThat(response.body()).contains("model_name: found 3, expected a string");
        }
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
      gzip                         | true
      deflate, gzip;q=0.5          | true
      gzip, identity;q=0.9         | true
      identity, gzip;q=0.9         | false
      gzip;q=0                     | false
      *                            | false
      br                           | false
      identity                     | false
      """)
    void aLongTextIsCompressedForWhoAsks(String asked, boolean isCompressed) throws Exception {
        var response = answer(server, LONG, "text/plain", asked);
        assertThat(response.headers().firstValue("Content-Encoding").orElse("identity"))
                .isEqualTo(isCompressed ? "gzip" : "identity");
        var body = response.body();
        assertThat(isCompressed ? unpacked(body) : body)
                .asString(StandardCharsets.UTF_8)
                .isEqualTo("A".repeat(LONG));
    }

    @Test
    void shortAnswersPicturesAndFailuresAreSentAsTheyAre() throws Exception {
        for (var response : List.of(
                answer(server, LONG - 1, "text/plain", "gzip"),
                answer(server, LONG, "image/png", "gzip"),
                answer(server, 2 * LIMIT, "text/plain", "gzip"))) {
            assertThat(response.headers().firstValue("Content-Encoding")).isEmpty();
            assertThat(response.headers().firstValueAsLong("Content-Length")).hasValue(response.body().length);
        }
    }

    @Test
    void nothingIsCompressedWithoutTheSetting() throws Exception {
        try (var plain = TestServer.with(new TextHandler()).start()) {
            var response = answer(plain, LONG, "text/plain", "gzip");
            assertThat(response.headers().firstValue("Content-Encoding")).isEmpty();
            assertThat(response.body()).hasSize(LONG);
        }
    }

    @Test
    void linesEndWithoutANewlineInsideToo() throws Exception {
        var lines = TextHandler.writing(
                (predictions, request) -> InvocationResponse.of("1\n".repeat(LONG), MediaType.JSON_LINES));
        try (var answering = TestServer.with(lines).start("BERTH_COMPRESSION=true")) {
            var body = unpacked(
                    answer(answering, 1, "application/jsonlines", "gzip").body());
            assertThat(body).hasSize(2 * LONG - 1).endsWith('1');
        }
    }

    private static HttpResponse<byte[]> answer(TestServer asked, int length, String type, String acceptEncoding)
            throws Exception {
        return asked.send(
                HttpRequest.newBuilder(asked.uri("/invocations"))
                        .headers("Accept", type, "Accept-Encoding", acceptEncoding)
                        .POST(BodyPublishers.ofString("a".repeat(length)))
                        .build(),
                BodyHandlers.ofByteArray());
    }

    private static byte[] unpacked(byte[] body) throws IOException {
        try (var in = new GZIPInputStream(new ByteArrayInputStream(body))) {
            return in.readAllBytes();
        }
    }
}
