package dev.berth.http;

import static dev.berth.testing.TestServer.assertStatus;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.berth.content.Csv;
import dev.berth.content.Json;
import dev.berth.content.JsonLines;
import dev.berth.hooks.InvocationRequest;
import dev.berth.hooks.InvocationResponse;
import dev.berth.hooks.MediaType;
import dev.berth.testing.CapturedLog;
import dev.berth.testing.TestServer;
import dev.berth.testing.TextHandler;
import java.io.IOException;
import java.util.Collections;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/// A server whose JVM has run out of memory wants to be replaced, and serves until it is.
@Tag("slow")
@Timeout(600)
class OutOfMemoryTest {

    /// Asks for more than there can be, in one hook.
    private static TextHandler greedy(String greedy) {
        return TextHandler.before(greedy, lines -> {
            if (lines.stream().anyMatch("greedy"::equalsIgnoreCase)) {
                var heap = new long[20][];
                for (int i = 0; i < heap.length; i++) {
                    heap[i] = new long[1 << 30];
                }
            }
        });
    }

    @ParameterizedTest
    @ValueSource(strings = {"inputFn", "predictFn", "outputFn"})
    void pingIs503FromThenOnAndTheLogSaysWhyOnce(String hook) throws Exception {
        try (var server = TestServer.with(greedy(hook)).start();
                var log = new CapturedLog()) {
            assertThat(server.get("/ping").statusCode()).isEqualTo(200);
            var failed = server.invoke("greedy");
            assertStatus(failed, 507, hook + " ran out of memory: Java heap space");
            server.invoke("greedy");

            var ping = server.get("/ping");
            assertStatus(ping, 503, "the JVM ran out of memory: Java heap space");
            assertThat(server.invoke("fine").body()).isEqualTo("FINE");
            await().untilAsserted(() -> assertThat(log.events().stream()
                            .filter(event -> event.getFormattedMessage().startsWith("the JVM ran out of memory")))
                    .hasSize(1));
            assertThat(server.get("/metrics").body()).contains("berth_out_of_memory_total 2.0");
        }
    }

    /// What hooks need not think of.
    @ParameterizedTest
    @ValueSource(strings = {"application/json", "application/jsonlines", "text/csv"})
    void anAnswerThatTheHeapCantHoldIsRefusedAndTheServerGoesOn(String type) throws Exception {
        int megabytes = (int) (Runtime.getRuntime().maxMemory() >> 20);
        var handler = new TextHandler() {
            @Override
            public InvocationResponse outputFn(List<String> predictions, InvocationRequest request) throws IOException {
                var texts = Collections.nCopies(megabytes, "a".repeat(1 << 20));
                return InvocationResponse.of(
                        switch (type) {
                            case "application/json" -> Json.write(texts);
                            case "application/jsonlines" -> JsonLines.write(texts);
                            default -> Csv.write(Collections.nCopies(megabytes, new Object[] {texts.getFirst()}));
                        },
                        MediaType.of(type.split("/")[0], type.split("/")[1]));
            }
        };
        try (var server = TestServer.with(handler).start()) {
            var refused = server.invoke("a");
            assertStatus(refused, 413, "expected fewer or smaller records");
            assertThat(server.get("/ping").statusCode()).isEqualTo(200);
            assertThat(server.get("/metrics").body()).contains("berth_out_of_memory_total 0.0");
        }
    }
}
