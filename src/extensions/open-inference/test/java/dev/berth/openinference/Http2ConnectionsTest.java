package dev.berth.openinference;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.berth.testing.EndlessConnections;
import dev.berth.testing.Gate;
import dev.berth.testing.RawConnection;
import dev.berth.testing.TestServer;
import dev.berth.testing.TextHandler;
import java.io.DataInputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.atomic.AtomicInteger;
import org.eclipse.jetty.http2.ErrorCode;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/// Connections of HTTP/2 that are slow, or have too much to say.
@Timeout(600)
class Http2ConnectionsTest {

    private static final int DATA = 0;
    private static final int HEADERS = 1;
    private static final int RST_STREAM = 3;
    private static final int SETTINGS = 4;
    private static final int WINDOW_UPDATE = 8;
    private static final String HTTP2 = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
    private static final int END_STREAM = 1;
    private static final int END_HEADERS = 4;

    /// HPACK (RFC 7541): POST, http, and `:path` as a literal.
    private static final byte[] CALL = "\203\206\4\14/invocations\1\1x".getBytes(StandardCharsets.ISO_8859_1);

    private static final String REQUEST = "POST /invocations HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\n\r\na";

    @Test
    @Tag("slow")
    void http2WithoutItsWholePrefaceIsClosedAndWithItMayWait() throws Exception {
        try (var server = TestServer.with(new TextHandler()).start("BERTH_GRPC_PORT=0");
                var silent = new RawConnection(server.server().otherPorts().get("HTTP/2"));
                var half = new RawConnection(server.server().otherPorts().get("HTTP/2"));
                var withoutSettings =
                        new RawConnection(server.server().otherPorts().get("HTTP/2"));
                var whole = new RawConnection(server.server().otherPorts().get("HTTP/2"))) {
            half.send("PRI * HTTP/2");
            withoutSettings.send(HTTP2);
            whole.send(HTTP2).send(frame(SETTINGS, 0, 0));
            assertThat(silent.readAll()).isEmpty();
            half.readAll();
            withoutSettings.readAll();
            whole.send(frame(HEADERS, END_HEADERS | END_STREAM, 1, CALL));
            var answer = nextFrame(new DataInputStream(whole.socket().getInputStream()), HEADERS);
            assertThat(answer.stream()).isEqualTo(1);
            assertThat(server.get("/metrics").body()).contains("reason=\"slow_head\"} 3.0");
        }
    }

    @Test
    void connectionsAndStreamsOfHttp2ShareTheLimit() throws Exception {
        try (var server = TestServer.with(new TextHandler()).start("BERTH_MAX_CONNECTIONS=3", "BERTH_GRPC_PORT=0");
                var http2 = new RawConnection(server.server().otherPorts().get("HTTP/2"))) {
            http2.send(HTTP2).send(frame(SETTINGS, 0, 0));
            for (int stream = 1; stream <= 5; stream += 2) {
                http2.send(frame(HEADERS, END_HEADERS, stream, CALL));
            }
            // The third of them has no place beside the connection and the two others.
            var in = new DataInputStream(http2.socket().getInputStream());
            var reset = nextFrame(in, RST_STREAM);
            assertThat(reset.stream()).isEqualTo(5);
            assertThat(ByteBuffer.wrap(reset.payload()).getInt()).isEqualTo(ErrorCode.REFUSED_STREAM_ERROR.code);
            // All of them wait for their bodies.
            try (var request = new RawConnection(server.port()).send(REQUEST)) {
                assertThat(request.readResponse()).startsWith("HTTP/1.1 200").endsWith("A");
            }
            assertThatThrownBy(() -> nextFrame(in, RST_STREAM)).isInstanceOf(IOException.class);
        }
    }

    @Test
    void settingsAgainAndAgainDoNotKeepAPlace() throws Exception {
        try (var server = TestServer.with(new TextHandler()).start("BERTH_MAX_CONNECTIONS=1", "BERTH_GRPC_PORT=0");
                var http2 = new RawConnection(server.server().otherPorts().get("HTTP/2"))) {
            http2.send(HTTP2);
            Thread.ofPlatform().start(() -> {
                try {
                    while (true) {
                        http2.send(frame(SETTINGS, 0, 0));
                        Thread.sleep(20);
                    }
                } catch (IOException | InterruptedException _) {
                    // It has made way.
                }
            });
            // Each is answered, so all that time something has come.
            var in = new DataInputStream(http2.socket().getInputStream());
            for (int answers = 0; answers < 20; answers++) {
                nextFrame(in, SETTINGS);
            }
            try (var request = new RawConnection(server.port()).send(REQUEST)) {
                assertThat(request.readResponse()).startsWith("HTTP/1.1 200").endsWith("A");
            }
        }
    }

    /// Each frame of one byte takes some 200 bytes of the heap, and the client sends on without
    /// asking what the server's window is. It is not read on, and nothing is lost.
    @Test
    @Tag("slow")
    void smallFramesThatNobodyReadsAreLeftToTheirSender() throws Exception {
        int size = 1_000_000;
        var blocked = new Gate(1);
        var handler = TextHandler.reading(request -> {
            blocked.passWhateverInterrupts();
            return List.of("" + request.body().readAllBytes().length);
        });
        try (var server = TestServer.with(handler).start("BERTH_GRPC_PORT=0");
                var http2 = new RawConnection(server.server().otherPorts().get("HTTP/2"))) {
            http2.send(HTTP2).send(frame(SETTINGS, 0, 0)).send(frame(HEADERS, END_HEADERS, 1, CALL));
            var sent = new AtomicInteger();
            Thread.ofPlatform().start(() -> {
                var frames = times(1000, text(frame(DATA, 0, 1, (byte) 'a')));
                try {
                    while (sent.addAndGet(1000) <= size) {
                        http2.send(frames);
                    }
                    http2.send(frame(DATA, END_STREAM, 1));
                } catch (IOException _) {
                    // The answer says so.
                }
            });
            // The sender has more to send, and nobody takes it.
            await().during(Duration.ofSeconds(1)).until(new Callable<Boolean>() {
                private int before;

                @Override
                public Boolean call() {
                    boolean isSame = before == sent.get();
                    before = sent.get();
                    return isSame;
                }
            });
            blocked.open();
            var answer = nextFrame(new DataInputStream(http2.socket().getInputStream()), DATA);
            assertThat(new String(answer.payload(), StandardCharsets.UTF_8)).isEqualTo("" + size);
        }
    }

    @Test
    @Tag("slow")
    void windowsWithoutEndKeepNobodyElseOut() throws Exception {
        var head = HTTP2 + text(frame(SETTINGS, 0, 0));
        var window = text(frame(WINDOW_UPDATE, 0, 0, (byte) 0, (byte) 0, (byte) 0, (byte) 1));
        try (var server = TestServer.with(new TextHandler()).start("BERTH_GRPC_PORT=0")) {
            // Jetty has 16 threads of its own.
            int count = 4 * Runtime.getRuntime().availableProcessors() + 17;
            EndlessConnections.assertKeepNobodyOut(
                    server, server.server().otherPorts().get("HTTP/2"), count, head, window.repeat(2000));
        }
    }

    private static byte[] times(int count, String text) {
        return text.repeat(count).getBytes(StandardCharsets.ISO_8859_1);
    }

    private static String text(byte[] bytes) {
        return new String(bytes, StandardCharsets.ISO_8859_1);
    }

    private record Frame(int type, int stream, byte[] payload) {}

    private static Frame nextFrame(DataInputStream in, int type) throws IOException {
        while (true) {
            int head = in.readInt();
            in.readByte();
            int stream = in.readInt();
            var payload = new byte[head >>> 8];
            in.readFully(payload);
            if ((head & 0xff) == type) {
                return new Frame(type, stream, payload);
            }
        }
    }

    private static byte[] frame(int type, int flags, int stream, byte... payload) {
        return ByteBuffer.allocate(9 + payload.length)
                .putInt(payload.length << 8 | type)
                .put((byte) flags)
                .putInt(stream)
                .put(payload)
                .array();
    }
}
