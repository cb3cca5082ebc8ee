package dev.berth.http;

import static dev.berth.testing.TestServer.assertAll;
import static dev.berth.testing.TestServer.assertStatus;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.berth.hooks.InvocationRequest;
import dev.berth.testing.CountingServer;
import dev.berth.testing.RawConnection;
import dev.berth.testing.ServeProcess;
import dev.berth.testing.TestServer;
import dev.berth.testing.TextHandler;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;
import java.util.zip.CRC32;
import java.util.zip.GZIPOutputStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

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
    private TestServer server;

    @BeforeEach
    void start() throws Exception {
        server = TestServer.with(handler).start("SAGEMAKER_MAX_PAYLOAD_IN_MB=30");
    }

    @AfterEach
    void stop() throws Exception {
        server.close();
    }

    @ParameterizedTest
    @CsvSource({"0", "1", "16384", "16385", "8388607", "8388608", "8388609", "31000000"})
    @Tag("INV-10")
    void everyByteOfABodyArrivesHoweverItIsSentAndRead(int length) throws Exception {
        var body = random(length);
        var sum = new CRC32();
        sum.update(body);
        var packed = new ByteArrayOutputStream();
        try (var out = new GZIPOutputStream(packed)) {
            out.write(body);
        }
        for (var query : List.of("whole", "parts")) {
            var uri = server.uri("/invocations?" + query);
            for (var request : List.of(
                    HttpRequest.newBuilder(uri).POST(BodyPublishers.ofByteArray(body)),
                    HttpRequest.newBuilder(uri)
                            .POST(BodyPublishers.ofInputStream(() -> new ByteArrayInputStream(body))),
                    HttpRequest.newBuilder(uri)
                            .header("Content-Encoding", "gzip")
                            .POST(BodyPublishers.ofInputStream(
                                    () -> new ByteArrayInputStream(packed.toByteArray()))))) {
                var response = server.client()
                        .send(request.header("Content-Type", "text/plain").build(), BodyHandlers.ofString());
                assertThat(response.body()).isEqualTo(String.valueOf(sum.getValue()));
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
    @CsvSource({"''", "gzip"})
    void aBodyAboveTheLimitIs413AndLeavesNothing(String coding) throws Exception {
        var body = new byte[LIMIT + 1];
        var sent = new ByteArrayOutputStream();
        try (var out = coding.isEmpty() ? sent : new GZIPOutputStream(sent)) {
            out.write(body);
        }
        var request = HttpRequest.newBuilder(server.uri("/invocations"))
                .POST(BodyPublishers.ofInputStream(() -> new ByteArrayInputStream(sent.toByteArray())));
        if (!coding.isEmpty()) {
            request.header("Content-Encoding", coding);
        }
        assertStatus(server.client().send(request.build(), BodyHandlers.ofString()), 413);
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
                var request = HttpRequest.newBuilder(other.uri("/invocations"))
                        .POST(BodyPublishers.ofInputStream(() -> new ByteArrayInputStream(new byte[fits])))
                        .build();
                var response = other.client().send(request, BodyHandlers.ofString());
                assertThat(response.statusCode()).isEqualTo(fits < 20 << 20 ? 200 : 413);
            }
            // There is room for two at a time.
            var request = HttpRequest.newBuilder(other.uri("/invocations"))
                    .POST(BodyPublishers.ofByteArray(new byte[12 << 20]))
                    .build();
            var together = Stream.generate(() -> other.client().sendAsync(request, BodyHandlers.ofString()))
                    .limit(12)
                    .toList();
            assertAll(together, 200);
        }
    }

    private static byte[] random(int length) {
        var bytes = new byte[length];
        new Random(length).nextBytes(bytes);
        return bytes;
    }

    /// The files of bodies that this process has open.
    private static List<String> files() throws IOException {
        try (Stream<Path> open = Files.list(Path.of("/proc/self/fd"))) {
            return open.map(WholeBodiesTest::target)
                    .filter(target -> target.contains("berth-body-"))
                    .toList();
        }
    }

    private static String target(Path descriptor) {
        try {
            return Files.readSymbolicLink(descriptor).toString();
        } catch (IOException _) {
            return "";
        }
    }
}
