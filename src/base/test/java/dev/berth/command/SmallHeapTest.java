package dev.berth.command;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.berth.Main;
import dev.berth.error.ErrorType;
import dev.berth.testing.CountingServer;
import dev.berth.testing.RawConnection;
import dev.berth.testing.ServeProcess;
import java.io.IOException;
import java.io.InputStream;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Stream;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/// Requests that would fill a heap of 400 MB, the one of a container of 1 GB, or a smaller one. Each ended the
/// process or starved others.
@Tag("slow")
class SmallHeapTest {

    private static final String QUESTION = "{\"question\": \"Who came?\", \"context\": \"Bob came.\"}";

    private static final long SIZE = 200L << 20;

    @AutoClose
    private ServeProcess server;

    /// @param timeout of requests, in seconds
    private void start(String timeout) throws IOException {
        start("-Xmx400m", timeout, Main.class);
    }

    private void start(String heap, String timeout, Class<?> main) throws IOException {
        var java = Path.of(System.getProperty("java.home"), "bin", "java").toString();
        var command = List.of(java, heap, "-cp", System.getProperty("java.class.path"), main.getName());
        var environment = Map.of(
                "BERTH_MODEL_DIR",
                "model-artifact",
                "INSTANCE_TYPE",
                "cpu",
                "SAGEMAKER_MAX_REQUEST_SIZE",
                main == Main.class ? "" : "0",
                "SAGEMAKER_MODEL_SERVER_TIMEOUT_SECONDS",
                timeout);
        server = ServeProcess.start(environment, command).awaitReady();
    }

    private CompletableFuture<HttpResponse<String>> send(String type, byte[] body) {
        return server.invokeAsync(BodyPublishers.ofByteArray(body), "Content-Type", type);
    }

    private static byte[] ascii(String text) {
        return text.getBytes(StandardCharsets.US_ASCII);
    }

    private void assertServes() throws Exception {
        await().untilAsserted(() ->
                assertThat(server.invokeAsync(QUESTION).get().body()).startsWith("{\"answer\":\"Bob\""));
        assertThat(server.get("/ping").statusCode()).isEqualTo(200);
    }

    @Test
    void manySmallRecordsAreRefused() throws Exception {
        start("600");
        for (var body :
                List.of("a,b b b b\n".repeat(1_600_000), ",".repeat(16_000_000), "\n".repeat(16_000_000) + "a,b")) {
            assertThat(send("text/csv", ascii(body)).get().statusCode()).isEqualTo(413);
        }
        assertThat(send("application/json", ascii("[" + "[],".repeat(6_500_000) + "[]]"))
                        .get()
                        .statusCode())
                .isEqualTo(413);
        assertThat(send("application/jsonlines", ascii("{}\n".repeat(5_000_000)))
                        .get()
                        .statusCode())
                .isEqualTo(413);
        var answers = "[" + QUESTION.replace("}", ", \"parameters\": {\"top_k\": 1000}}") + "]";
        assertThat(send("application/json", ascii(answers)).get().statusCode()).isEqualTo(200);
        assertServes();
    }

    @Test
    void severalThatDoNotFitTogetherAreAnsweredOrRefused() throws Exception {
        // What would take longer is 504 then.
        start("8");
        var body = ascii("a,b b b b\n".repeat(200_000));
        var all = Stream.generate(() -> send("text/csv", body)).limit(8).toList();
        assertServes();
        for (var one : all) {
            assertThat(one.get().statusCode())
                    .as(one.get().body())
                    .isIn(200, 413, ErrorType.OVERLOADED.status(), 503, 504);
        }
        assertServes();
    }

    /// A character whose normal form has 18: the tokenizer hands over more tokens than there are
    /// characters.
    @Test
    void aTextOfMoreTokensThanCharactersEndsNothing() throws Exception {
        start("8");
        var context = "{\"question\": \"Who came?\", \"context\": \"%s\"}".formatted("\uFDFA ".repeat(400_000));
        var response = send("application/json", context.getBytes(StandardCharsets.UTF_8))
                .get();
        assertThat(response.statusCode()).as(response.body()).isIn(200, 413, 503, 504);
        assertServes();
    }

    /// Long ones are in files. Of the others, those that have no room beside each other are.
    @ParameterizedTest
    @ValueSource(ints = {25_000_000, 6_500_000})
    void uploadsThatStallKeepNoOthersOut(int length) throws Exception {
        start("600");
        var stalled = new ArrayList<RawConnection>();
        try {
            for (int i = 0; i < 20; i++) {
                stalled.add(new RawConnection(server.port())
                        .send("POST /invocations HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n".formatted(length))
                        .send(new byte[6_000_000]));
            }
            var large = "{\"question\": \"Who came?\", \"context\": \"Bob came.\"%s}".formatted(" ".repeat(2_000_000));
            var answer = send("application/json", ascii(large)).get();
            assertThat(answer.body()).startsWith("{\"answer\":\"Bob\"");
            assertServes();
        } finally {
            for (var connection : stalled) {
                connection.close();
            }
        }
    }

    /// A third of it would not fit into the heap.
    @Test
    @Tag("ASY-01")
    void aPayloadFarLargerThanTheHeapIsReadAsAStream() throws Exception {
        start("-Xmx64m", "3600", CountingServer.class);
        for (int i = 0; i < 2; i++) {
            var response = server.invokeAsync(BodyPublishers.ofInputStream(SmallHeapTest::zeros));
            assertThat(response.get().body()).isEqualTo(String.valueOf(SIZE));
        }
    }

    /// The native tokenizer aborts the process when there is no room for its result. The hook is left behind at
    /// its deadline, and may keep the only permit for a while.
    @Test
    void aContextThatTheHeapHasHardlyRoomForEndsNothing() throws Exception {
        start("-Xmx256m", "5", Main.class);
        var body = "{\"question\": \"Who came?\", \"context\": \"%s\"}".formatted("Bob came. ".repeat(1_200_000));
        var large = send("application/json", ascii(body)).get();
        assertThat(large.statusCode()).as(large.body()).isIn(413, 503, 504, 507);
        assertServes();
    }

    private static InputStream zeros() {
        return new InputStream() {
            private long left = SIZE;

            @Override
            public int read() {
                return left-- > 0 ? 0 : -1;
            }

            @Override
            public int read(byte[] buffer, int offset, int length) {
                if (left <= 0) {
                    return -1;
                }
                int count = (int) Math.min(length, left);
                left -= count;
                return count;
            }
        };
    }
}
