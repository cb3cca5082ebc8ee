package dev.berth.http;

import static dev.berth.testing.TestServer.assertAll;
import static dev.berth.testing.TestServer.assertStatus;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.berth.hooks.InvocationRequest;
import dev.berth.testing.CountingServer;
import dev.berth.testing.Gzipped;
import dev.berth.testing.OpenFiles;
import dev.berth.testing.RawConnection;
import dev.berth.testing.ServeProcess;
import dev.berth.testing.TestServer;
import dev.berth.testing.TextHandler;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.net.http.HttpRequest.BodyPublisher;
import java.net.http.HttpRequest.BodyPublishers;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;
import java.util.zip.CRC32;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/// A body is whole before a hook sees it: a short one in memory, a long one in a file without a name.
@Timeout(300)
class WholeBodiesTest {

    private static final int LIMIT = 30 << 20;

    /// Answers the checksum of the body, read as the query says.
    private static final class Checksums extends TextHandler {
        private final AtomicInteger entered = new AtomicInteger();

        @Override
        public List<String> inputFn(InvocationRequest request) throws IOException {
            entered.incrementAndGet();
            var sum = new CRC32();
            if (request.query().equals(Optional.of("whole"))) {
                sum.update(request.bytes());
            } else {
                sum.update(request.body().readNBytes(100_000));
                sum.update(request.body().readAllBytes());
            }
            return List.of(String.valueOf(sum.getValue()));
        }
    }

    private final Checksums handler = new Checksums();

    @AutoClose
    private TestServer server;

    @BeforeEach
    void start() throws Exception {
        server = TestServer.with(handler).start("SAGEMAKER_MAX_PAYLOAD_IN_MB=30");
    }

    @ParameterizedTest
    @CsvSource({"0", "1", "16384", "16385", "8388607", "8388608", "8388609", "31000000"})
    @Tag("INV-10")
    void everyByteOfABodyArrivesHoweverItIsSentAndRead(int length) throws Exception {
        var body = random(length);
        var sum = new CRC32();
        sum.update(body);
        var packed = streamed(Gzipped.packed(body));
        for (var path : List.of("/invocations?whole", "/invocations?parts")) {
            for (var request : List.of(
                    server.request(path, BodyPublishers.ofByteArray(body), "Content-Type", "text/plain"),
                    server.request(path, streamed(body), "Content-Type", "text/plain"),
                    server.request(path, packed, "Content-Type", "text/plain", "Content-Encoding", "gzip"))) {
                assertThat(server.send(request).body()).isEqualTo(String.valueOf(sum.getValue()));
            }
        }
        await().until(() -> files().isEmpty());
    }

    /// More of them than there are threads for hooks.
    @Test
    void bodiesThatComeSlowlyOccupyNoHook() throws Exception {
        var slow = new ArrayList<RawConnection>();
        try {
            for (int i = 0; i < 300; i++) {
                slow.add(new RawConnection(server.port())
                        .send("POST /invocations HTTP/1.1\r\nHost: x\r\nContent-Length: 9000000\r\n\r\n")
                        .send(new byte[100_000]));
            }
            await().until(() -> files().size() >= 300);
            assertThat(server.invoke("a").statusCode()).isEqualTo(200);
            assertThat(handler.entered).hasValue(1);
        } finally {
            for (var connection : slow) {
                connection.close();
            }
        }
        // Their clients have gone, and nothing is left of them.
        await().until(() -> files().isEmpty());
        assertThat(handler.entered).hasValue(1);
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void aBodyAboveTheLimitIs413AndLeavesNothing(boolean isPacked) throws Exception {
        var body = new byte[LIMIT + 1];
        var response = isPacked
                ? server.invoke(streamed(Gzipped.packed(body)), "Content-Encoding", "gzip")
                : server.invoke(streamed(body));
        assertStatus(response, 413);
        assertThat(handler.entered).hasValue(0);
        await().until(() -> files().isEmpty());
    }

    @Test
    @Tag("slow")
    void whereNoFileCanBeMadeALongBodyIsInMemoryAsFarAsThereIsRoom() throws Exception {
        var command = List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-Xmx256m",
                "-Djava.io.tmpdir=/nowhere",
                "-cp",
                System.getProperty("java.class.path"),
                CountingServer.class.getName());
        var environment =
                Map.of("SAGEMAKER_MAX_REQUEST_SIZE", "0", "BERTH_MODEL_DIR", "model-artifact", "INSTANCE_TYPE", "cpu");
        try (var other = ServeProcess.start(environment, command).awaitReady()) {
            for (var fits : List.of(12 << 20, 120 << 20)) {
                assertStatus(other.invokeAsync(streamed(new byte[fits])).get(), fits < 20 << 20 ? 200 : 413);
            }
            // There is room for two at a time.
            var body = BodyPublishers.ofByteArray(new byte[12 << 20]);
            var together =
                    Stream.generate(() -> other.invokeAsync(body)).limit(12).toList();
            assertAll(together, 200);
        }
    }

    private static byte[] random(int length) {
        var bytes = new byte[length];
        new Random(length).nextBytes(bytes);
        return bytes;
    }

    private static BodyPublisher streamed(byte[] body) {
        return BodyPublishers.ofInputStream(() -> new ByteArrayInputStream(body));
    }

    /// The files of bodies that this process has open.
    private static List<Path> files() throws IOException {
        return OpenFiles.below(Path.of(System.getProperty("java.io.tmpdir"))).stream()
                .filter(file -> file.toString().contains("berth-body-"))
                .toList();
    }
}
