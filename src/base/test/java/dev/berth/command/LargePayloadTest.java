package dev.berth.command;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.berth.Main;
import dev.berth.testing.CountingServer;
import dev.berth.testing.ServeProcess;
import java.io.InputStream;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

@Tag("slow")
class LargePayloadTest {

    private static final long SIZE = 200L << 20;

    /// A heap that a third of the payload would not fit into.
    private static final String HEAP = "-Xmx64m";

    @Test
    @Tag("ASY-01")
    void aPayloadFarLargerThanTheHeapIsReadAsAStream() throws Exception {
        var java = Path.of(System.getProperty("java.home"), "bin", "java").toString();
        var command = List.of(java, HEAP, "-cp", System.getProperty("java.class.path"), CountingServer.class.getName());
        var environment = Map.of(
                "SAGEMAKER_MAX_REQUEST_SIZE",
                "0",
                "SAGEMAKER_MODEL_SERVER_TIMEOUT_SECONDS",
                "3600",
                "BERTH_MODEL_DIR",
                "model-artifact",
                "INSTANCE_TYPE",
                "cpu");
        try (var server = ServeProcess.start(environment, command).awaitReady()) {
            for (int i = 0; i < 2; i++) {
                var request = HttpRequest.newBuilder(server.uri("/invocations"))
                        .POST(BodyPublishers.ofInputStream(LargePayloadTest::zeros))
                        .build();
                var response = server.client().send(request, BodyHandlers.ofString());
                assertThat(response.body()).isEqualTo(String.valueOf(SIZE));
            }
        }
    }

    /// A context that fills the heap: the native tokenizer aborts the process when there is no room
    /// for its result.
    @Test
    void aContextThatTheHeapHasHardlyRoomForEndsNothing() throws Exception {
        var java = Path.of(System.getProperty("java.home"), "bin", "java").toString();
        var command = List.of(java, "-Xmx256m", "-cp", System.getProperty("java.class.path"), Main.class.getName());
        var environment = Map.of(
                "SAGEMAKER_MODEL_SERVER_TIMEOUT_SECONDS",
                "5",
                "BERTH_MODEL_DIR",
                "model-artifact",
                "INSTANCE_TYPE",
                "cpu");
        try (var server = ServeProcess.start(environment, command).awaitReady()) {
            var body = "{\"question\": \"Who came?\", \"context\": \"%s\"}".formatted("Bob came. ".repeat(1_200_000));
            var large = server.client().send(server.invocation(body).build(), BodyHandlers.ofString());
            assertThat(large.statusCode()).as(large.body()).isIn(413, 503, 504, 507);
            var small = server.invocation("{\"question\": \"Who came?\", \"context\": \"Bob came.\"}")
                    .build();
            // The large one's hook is left behind at its deadline, and may keep the only permit for a
            // while.
            await().until(() ->
                    server.client().send(small, BodyHandlers.ofString()).body().contains("\"answer\":\"Bob\""));
        }
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
