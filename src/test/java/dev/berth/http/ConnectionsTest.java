package dev.berth.http;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.berth.hooks.InvocationRequest;
import dev.berth.testing.CapturedLog;
import dev.berth.testing.Gate;
import dev.berth.testing.GatedHandler;
import dev.berth.testing.RawConnection;
import dev.berth.testing.RawSocket;
import dev.berth.testing.TestServer;
import dev.berth.testing.TextHandler;
import java.io.DataInputStream;
import java.io.IOException;
import java.net.SocketTimeoutException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.ToIntFunction;
import java.util.stream.Stream;
import org.eclipse.jetty.http2.ErrorCode;
import org.eclipse.jetty.websocket.api.StatusCode;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/// Connections that are slow, idle or too many.
@Timeout(600)
class ConnectionsTest {

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

    private static final String PING = "GET /ping HTTP/1.1\r\nHost: x\r\n\r\n";
    private static final String HALF = "GET /ping HTTP/1.1\r\nHost: x\r\n";
    private static final String BODY = "POST /invocations HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\n\r\na";
    private static final String REQUEST = "POST /invocations HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\n\r\na";

    @Test
    @Tag("slow")
    void aHeadThatDoesNotEndIs408HoweverItDrips() throws Exception {
        try (var server = TestServer.with(new TextHandler()).start();
                var dripping = new RawConnection(server.port());
                var second = new RawConnection(server.port());
                var silent = new RawConnection(server.port());
                var idle = new RawConnection(server.port())) {
            assertThat(idle.send(PING).readResponse()).startsWith("HTTP/1.1 200");
            assertThat(second.send(PING).readResponse()).startsWith("HTTP/1.1 200");
            second.send(HALF);
            dripping.send(HALF + "X: ");
            await().pollInterval(Duration.ofMillis(200)).until(() -> {
                var answered = dripping.socket().getInputStream().available() > 0;
                return answered || dripping.send("x") == null;
            });
            for (var slow : List.of(dripping, second)) {
                assertThat(slow.readResponse())
                        .startsWith("HTTP/1.1 408")
                        .contains("Connection: close", "\"code\":408", "within 10 s");
                assertThat(slow.readLine()).isNull();
            }
            assertThat(silent.readAll()).isEmpty();
            assertThat(idle.send(PING).readResponse()).startsWith("HTTP/1.1 200");
            assertThat(server.get("/metrics").body()).contains("reason=\"slow_head\"} 3.0");
        }
    }

    @Test
    @Tag("slow")
    void http2WithoutItsWholePrefaceIsClosedAndWithItMayWait() throws Exception {
        try (var server = TestServer.with(new TextHandler())
                        .set("BERTH_GRPC_PORT", "0")
                        .start();
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

    /// Tried again where the machine stood still for so long that what had come was not read yet.
    @Test
    void whatIsWaitedForLongestMakesWayWhateverItIsWaitedFor() {
        await().ignoreExceptionsInstanceOf(SocketTimeoutException.class).untilAsserted(() -> makesWayInOrder());
    }

    private static void makesWayInOrder() throws Exception {
        var gate = new Gate(1);
        try (var server = TestServer.with(new GatedHandler(gate))
                        .set("BERTH_MAX_CONNECTIONS", "3")
                        .start();
                var log = new CapturedLog();
                var half = new RawConnection(server.port()).send(HALF);
                var idle = new RawConnection(server.port())) {
            assertThat(idle.send(PING).readResponse()).startsWith("HTTP/1.1 200");
            var body = new RawConnection(server.port()).send(BODY);
            var busy = new ArrayList<RawConnection>();
            for (var next : List.of(half, idle, body)) {
                busy.add(new RawConnection(server.port()).send(REQUEST));
                next.socket().setSoTimeout(10_000);
                assertThat(next.socket().getInputStream().read()).isEqualTo(-1);
            }
            body.close();
            gate.open();
            for (var connection : busy) {
                assertThat(connection.readResponse()).startsWith("HTTP/1.1 200").endsWith("A");
                connection.close();
            }
            assertThat(log.text())
                    .containsOnlyOnce("all 3 connections are in use, which is the most because max-connections is 3");
            assertThat(server.get("/metrics").body())
                    .contains("berth_connections_dropped_total{reason=\"made_way\"} 3.0");
        }
    }

    /// Tried again where the machine stood still for so long that the new connection was an old one.
    @Test
    void aNewConnectionThatHasSentNothingYetStaysWhileAnIdleOneCanGo() throws Exception {
        try (var server = TestServer.with(new TextHandler())
                .set("BERTH_MAX_CONNECTIONS", "2")
                .start()) {
            await().ignoreExceptionsInstanceOf(IOException.class).untilAsserted(() -> {
                try (var idle = new RawConnection(server.port())) {
                    assertThat(idle.send(PING).readResponse()).startsWith("HTTP/1.1 200");
                    try (var fresh = new RawConnection(server.port());
                            var next = new RawConnection(server.port())) {
                        assertThat(next.send(REQUEST).readResponse())
                                .startsWith("HTTP/1.1 200")
                                .endsWith("A");
                        assertThat(fresh.send(REQUEST).readResponse())
                                .startsWith("HTTP/1.1 200")
                                .endsWith("A");
                        assertThat(idle.socket().getInputStream().read()).isEqualTo(-1);
                    }
                }
            });
        }
    }

    @Test
    void whileAllAreBusyPingIsAnsweredAndTheRestIs503() throws Exception {
        var gate = new Gate(2);
        try (var server = TestServer.with(new GatedHandler(gate))
                        .set("SAGEMAKER_MODEL_SERVER_WORKERS", "2")
                        .set("BERTH_MAX_CONNECTIONS", "2")
                        .set("AIP_HEALTH_ROUTE", "/health")
                        .start();
                var one = new RawConnection(server.port()).send(REQUEST);
                var other = new RawConnection(server.port()).send(REQUEST);
                var health = new RawConnection(server.port())) {
            gate.awaitArrival();
            for (int i = 0; i < 3; i++) {
                assertThat(health.send(PING).readResponse())
                        .startsWith("HTTP/1.1 200")
                        .doesNotContain("Connection: close");
                assertThat(health.send(PING.replace("/ping", "/health")).readResponse())
                        .startsWith("HTTP/1.1 200");
            }
            var refused = Stream.generate(() -> request(server)).limit(50).toList();
            for (var connection : refused) {
                assertThat(connection.readResponse())
                        .startsWith("HTTP/1.1 503")
                        .contains("overloaded", "Retry-After: 1", "Connection: close");
                connection.close();
            }
            gate.open();
            assertThat(one.readResponse()).startsWith("HTTP/1.1 200").endsWith("A");
            assertThat(other.readResponse()).startsWith("HTTP/1.1 200").endsWith("A");
            await().untilAsserted(() -> {
                try (var next = new RawConnection(server.port()).send(REQUEST)) {
                    assertThat(next.readResponse()).startsWith("HTTP/1.1 200").endsWith("A");
                }
            });
        }
    }

    @Test
    void aConnectionBeyondTheLimitServesOnceAnotherHasMadeWay() throws Exception {
        try (var server = TestServer.with(new TextHandler())
                .set("BERTH_MAX_CONNECTIONS", "2")
                .start()) {
            var half = new ArrayList<RawConnection>();
            for (int i = 0; i < 200; i++) {
                half.add(new RawConnection(server.port()).send(HALF));
                if (i % 20 == 0) {
                    try (var good = new RawConnection(server.port()).send(REQUEST)) {
                        assertThat(good.readResponse())
                                .startsWith("HTTP/1.1 200")
                                .endsWith("A");
                    }
                }
            }
            for (var connection : half) {
                connection.close();
            }
            awaitConnections(server, 0);
        }
    }

    @Test
    void anAddressHasNoMoreThanItMayHave() throws Exception {
        try (var server = TestServer.with(new TextHandler())
                        .set("BERTH_MAX_CONNECTIONS_PER_ADDRESS", "2")
                        .start();
                var one = new RawConnection(server.port())) {
            var two = new RawConnection(server.port());
            assertThat(two.send(PING).readResponse()).startsWith("HTTP/1.1 200");
            try (var three = new RawConnection(server.port())) {
                assertThat(three.readResponse())
                        .startsWith("HTTP/1.1 503")
                        .contains("this address has 2 connections, and max-connections-per-address allows no more");
                assertThat(three.readLine()).isNull();
            }
            assertThat(one.send(PING).readResponse()).startsWith("HTTP/1.1 200");
            two.close();
            await().untilAsserted(() -> assertThat(server.get("/metrics").body())
                    .contains("berth_connections 2.0", "reason=\"address\"} "));
        }
    }

    /// Tried again where the machine stood still at the end of the first handshake, so that the
    /// second socket waits for longer.
    @Test
    void idleSocketsMakeWayAndAreToldSo() {
        await().ignoreExceptionsInstanceOf(SocketTimeoutException.class)
                .untilAsserted(ConnectionsTest::theFirstSocketMakesWay);
    }

    private static void theFirstSocketMakesWay() throws Exception {
        try (var server = TestServer.with(new TextHandler())
                        .set("BERTH_MAX_CONNECTIONS", "2")
                        .start();
                var first = RawSocket.open(server.port(), "/invocations-bidirectional-stream");
                var second = RawSocket.open(server.port(), "/invocations-bidirectional-stream");
                var request = new RawConnection(server.port()).send(REQUEST)) {
            assertThat(request.readResponse()).startsWith("HTTP/1.1 200").endsWith("A");
            first.socket().setSoTimeout(10_000);
            var close = first.read();
            assertThat(close.opcode()).isEqualTo(RawSocket.CLOSE);
            assertThat(close.code()).isEqualTo(StatusCode.TRY_AGAIN_LATER);
            assertThat(second.text("b").read().text()).isEqualTo("B");
        }
    }

    @Test
    void connectionsAndStreamsOfHttp2ShareTheLimit() throws Exception {
        try (var server = TestServer.with(new TextHandler())
                        .set("BERTH_MAX_CONNECTIONS", "3")
                        .set("BERTH_GRPC_PORT", "0")
                        .start();
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

    /// Each frame of one byte takes some 200 bytes of the heap, and the client sends on without
    /// asking what the server's window is. It is not read on, and nothing is lost.
    @Test
    @Tag("slow")
    void smallFramesThatNobodyReadsAreLeftToTheirSender() throws Exception {
        int size = 1_000_000;
        var blocked = new CountDownLatch(1);
        var handler = new TextHandler() {
            @Override
            public List<String> inputFn(InvocationRequest request) throws IOException {
                try {
                    blocked.await();
                } catch (InterruptedException e) {
                    throw new IllegalStateException(e);
                }
                return List.of("" + request.body().readAllBytes().length);
            }
        };
        try (var server = TestServer.with(handler).set("BERTH_GRPC_PORT", "0").start();
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
            blocked.countDown();
            var answer = nextFrame(new DataInputStream(http2.socket().getInputStream()), DATA);
            assertThat(new String(answer.payload(), StandardCharsets.UTF_8)).isEqualTo("" + size);
        }
    }

    @Test
    void whoDoesNotTakeAnAnswerMakesWay() throws Exception {
        var large = "a".repeat(20 << 20);
        var head = "POST /invocations HTTP/1.1\r\nHost: x\r\nContent-Length: ";
        try (var server = TestServer.with(new TextHandler())
                        .set("BERTH_MAX_CONNECTIONS", "1")
                        .start();
                var deaf = new RawConnection(server.port())) {
            deaf.send(head + large.length() + "\r\n\r\n" + large);
            await().ignoreExceptionsInstanceOf(IOException.class).untilAsserted(() -> {
                try (var request = new RawConnection(server.port()).send(REQUEST)) {
                    assertThat(request.readResponse())
                            .startsWith("HTTP/1.1 200")
                            .endsWith("A");
                }
            });
            assertThat(server.get("/metrics").body()).contains("reason=\"made_way\"} 1.0");
        }
    }

    /// A virtual thread that always finds more to read is not preempted.
    @ParameterizedTest
    @MethodSource
    @Tag("slow")
    void whatAlwaysHasMoreBytesKeepsNobodyElseOut(ToIntFunction<TestServer> port, int count, String head, byte[] more)
            throws Exception {
        try (var server =
                TestServer.with(new TextHandler()).set("BERTH_GRPC_PORT", "0").start()) {
            var ended = new AtomicInteger();
            var asked = new CountDownLatch(1);
            var begun = new CountDownLatch(count);
            for (int i = 0; i < count; i++) {
                Thread.ofPlatform().start(() -> {
                    try (var endless = new RawConnection(port.applyAsInt(server)).send(head)) {
                        while (asked.getCount() > 0) {
                            endless.send(more);
                            begun.countDown();
                        }
                    } catch (IOException _) {
                        ended.incrementAndGet();
                    }
                });
            }
            begun.await();
            for (int i = 0; i < 20; i++) {
                try (var request = new RawConnection(server.port()).send(REQUEST)) {
                    assertThat(request.readResponse())
                            .startsWith("HTTP/1.1 200")
                            .endsWith("A");
                }
            }
            assertThat(ended).hasValue(0);
            asked.countDown();
        }
    }

    static Stream<Arguments> whatAlwaysHasMoreBytesKeepsNobodyElseOut() {
        var handshake = """
        GET %s HTTP/1.1\r
        Host: x\r
        Upgrade: websocket\r
        Connection: Upgrade\r
        Sec-WebSocket-Version: 13\r
        Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r
        \r
        \1\201\0\0\0\0a\
        """.formatted("/invocations-bidirectional-stream");
        var chunked = "POST /invocations HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n";
        var http2 = HTTP2 + text(frame(SETTINGS, 0, 0));
        var window = text(frame(WINDOW_UPDATE, 0, 0, (byte) 0, (byte) 0, (byte) 0, (byte) 1));
        ToIntFunction<TestServer> port = TestServer::port;
        ToIntFunction<TestServer> grpcPort =
                server -> server.server().otherPorts().get("HTTP/2");
        int cores = Runtime.getRuntime().availableProcessors();
        // Jetty has 16 threads of its own.
        return Stream.of(
                Arguments.of(port, cores + 1, handshake, times(2000, "\0\201\0\0\0\0a")),
                Arguments.of(port, cores + 1, chunked, times(4000, "1\r\na\r\n")),
                Arguments.of(grpcPort, 4 * cores + 17, http2, times(2000, window)));
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

    private static RawConnection request(TestServer server) {
        try {
            return new RawConnection(server.port()).send(REQUEST);
        } catch (IOException e) {
            throw new IllegalStateException(e);
        }
    }

    /// Besides the one that asks.
    private static void awaitConnections(TestServer server, int count) {
        await().until(() -> server.get("/metrics").body().contains("berth_connections %d.0".formatted(count + 1)));
    }
}
