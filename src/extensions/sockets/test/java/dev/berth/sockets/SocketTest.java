package dev.berth.sockets;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.berth.hooks.InferenceHandler;
import dev.berth.hooks.InvocationRequest;
import dev.berth.hooks.InvocationResponse;
import dev.berth.hooks.MediaType;
import dev.berth.hooks.SessionHandler;
import dev.berth.memory.MemoryBudget;
import dev.berth.memory.RequestMemory.ProcessMemory;
import dev.berth.testing.CountingStream;
import dev.berth.testing.Gate;
import dev.berth.testing.GatedHandler;
import dev.berth.testing.Leftovers;
import dev.berth.testing.RawConnection;
import dev.berth.testing.RawSocket;
import dev.berth.testing.RememberingHandler;
import dev.berth.testing.TestServer;
import dev.berth.testing.TextHandler;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.net.http.HttpRequest;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Locale;
import java.util.Random;
import java.util.concurrent.atomic.AtomicInteger;
import javax.management.ObjectName;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/// WebSockets: with Java's own client, and frame by frame.
class SocketTest {

    private static final String PATH = "/invocations-bidirectional-stream";
    private static final Duration LONG = Duration.ofMinutes(20);
    private static final String ID = "X-Amzn-SageMaker-Session-Id";

    @AutoClose
    private TestServer server;

    @AutoClose
    private RawSocket socket;

    @Test
    @Tag("BIDI-02")
    void aPingIsAnsweredWithItsPayloadAlsoWhileAnAnswerIsMade() throws Exception {
        var gate = new Gate(1);
        talkTo(new GatedHandler(gate));
        socket.frame(true, RawSocket.PING, "are you there".getBytes(StandardCharsets.UTF_8));
        assertThat(socket.read())
                .returns(RawSocket.PONG, RawSocket.Frame::opcode)
                .returns("are you there", RawSocket.Frame::text);

        socket.text("slow");
        gate.awaitArrival();
        socket.frame(true, RawSocket.PING, new byte[] {1});
        assertThat(socket.read()).returns(RawSocket.PONG, RawSocket.Frame::opcode);
        gate.open();
        assertThat(socket.read().text()).isEqualTo("SLOW");
    }

    @Test
    @Tag("BIDI-03")
    void fragmentsAreOneMessageAndAPingMayComeBetween() throws Exception {
        talkTo(new TextHandler());
        var snowman = "☃".getBytes(StandardCharsets.UTF_8);
        socket.frame(false, RawSocket.TEXT, new byte[] {'a', snowman[0]})
                .frame(false, RawSocket.CONTINUATION, new byte[] {snowman[1]})
                .frame(true, RawSocket.PING, new byte[0])
                .frame(true, RawSocket.CONTINUATION, new byte[] {snowman[2], 'b'});

        assertThat(socket.read().opcode()).isEqualTo(RawSocket.PONG);
        assertThat(socket.read())
                .returns(RawSocket.TEXT, RawSocket.Frame::opcode)
                .returns("A☃B", RawSocket.Frame::text);
    }

    @Test
    @Tag("BIDI-04")
    void bytesAreBytesBothWays() throws Exception {
        var handler = new TextHandler() {
            @Override
            public List<String> inputFn(InvocationRequest request) throws IOException {
                assertThat(request.contentType()).isEqualTo(MediaType.BYTES);
                return List.of(HexFormat.of().formatHex(request.bytes()));
            }

            @Override
            public InvocationResponse outputFn(List<String> predictions, InvocationRequest request) {
                return InvocationResponse.of(HexFormat.of().parseHex(predictions.getFirst()), request.accept());
            }
        };
        var all = new byte[256];
        for (int i = 0; i < all.length; i++) {
            all[i] = (byte) i;
        }
        talkTo(handler);
        socket.frame(true, RawSocket.BINARY, all);

        var frame = socket.read();
        assertThat(frame.opcode()).isEqualTo(RawSocket.BINARY);
        assertThat(frame.payload()).isEqualTo(all);
    }

    @Test
    void partsAreFramesAndAnEmptyOneFollowsTheLast() throws Exception {
        var handler = new CountingStream();
        talkTo(handler);
        socket.text("3").text("1");

        for (var expected : List.of("1", "2", "3", "", "1", "")) {
            assertThat(socket.read())
                    .returns(expected, RawSocket.Frame::text)
                    .returns(RawSocket.TEXT, RawSocket.Frame::opcode)
                    .returns(true, RawSocket.Frame::last);
        }
        await().until(() -> handler.open() == 0);
    }

    @Test
    void whatFailsBeforeTheFirstPartIsAnErrorFrameAndTheSocketStaysOpen() throws Exception {
        talkTo(new CountingStream());
        socket.text("x");
        assertThat(socket.read().text())
                .isEqualTo(
                        "{\"error\":{\"message\":\"body: found no number, expected one\",\"type\":\"bad_input\",\"code\":400}}");
        socket.text("3!1");
        assertThat(socket.read().text()).contains("\"code\":500", "part 1 failed");
        socket.text("1");
        assertThat(socket.read().text()).isEqualTo("1");
        assertThat(server.get("/metrics").body())
                .contains(
                        "berth_requests_total{route=\"/invocations-bidirectional-stream\",status=\"101\"} 1.0",
                        "berth_requests_total{route=\"/invocations-bidirectional-stream\",status=\"400\"} 1.0",
                        "berth_model_requests_total{model=\"model\",status=\"500\"} 1.0");
    }

    @Test
    void whatFailsAfterTheFirstPartClosesTheSocket() throws Exception {
        talkTo(new CountingStream());
        socket.text("3!2");
        assertThat(socket.read().text()).isEqualTo("1");
        assertThat(socket.read())
                .returns(1011, RawSocket.Frame::code)
                .satisfies(frame -> assertThat(frame.reason()).contains("part 2 failed"));
        server.awaitMetrics("berth_streams_broken_total{model=\"model\"} 1.0");
    }

    @ParameterizedTest
    @CsvSource({"8182 00000000 61ff, 1007", "8101 61, 1002"})
    void bytesThatAreNoUtf8AndAMissingMaskCloseTheSocket(String frame, int code) throws Exception {
        talkTo(new TextHandler());
        socket.send(HexFormat.of().parseHex(frame.replace(" ", "")));
        assertThat(socket.read())
                .returns(RawSocket.CLOSE, RawSocket.Frame::opcode)
                .returns(code, RawSocket.Frame::code);
    }

    @Test
    void aMessageThatIsTooLargeClosesWith1009AndItsReason() throws Exception {
        server = TestServer.with(new TextHandler()).start("SAGEMAKER_MAX_REQUEST_SIZE=1000");
        try (var whole = open();
                var fragments = open()) {
            whole.frame(true, RawSocket.TEXT, new byte[1001]);
            assertThat(whole.read())
                    .returns(1009, RawSocket.Frame::code)
                    .satisfies(frame -> assertThat(frame.reason()).contains("1000 bytes"));

            fragments.frame(false, RawSocket.BINARY, new byte[600]).frame(false, RawSocket.CONTINUATION, new byte[600]);
            assertThat(fragments.read()).returns(1009, RawSocket.Frame::code);
            assertNothingIsTaken();
        }
    }

    /// What is announced and does not come takes no memory.
    @Test
    @Tag("slow")
    void announcedFramesTakeNoMemoryBeforeTheyCome() throws Exception {
        server = TestServer.with(new TextHandler()).start("SAGEMAKER_MODEL_SERVER_TIMEOUT_SECONDS=2");
        var sockets = new ArrayList<RawSocket>();
        for (int i = 0; i < 50; i++) {
            var socket = open();
            sockets.add(socket);
            socket.send(ByteBuffer.allocate(14)
                            .put((byte) 0x82)
                            .put((byte) (0x80 | 127))
                            .putLong(100_000_000)
                            .putInt(0)
                            .array())
                    .send(new byte[10]);
        }
        assertThat(server.get("/ping").statusCode()).isEqualTo(200);
        for (var socket : sockets) {
            assertThat(socket.read())
                    .returns(1008, RawSocket.Frame::code)
                    .satisfies(frame -> assertThat(frame.reason()).contains("was not whole within 2 s"));
            socket.close();
        }
        server.awaitMetrics("berth_sockets 0.0");
    }

    @Test
    @Tag("slow")
    void aReaderThatDoesNotReadPausesItsOwnAnswerAndNobodyElses() throws Exception {
        var handler = new CountingStream();
        server = TestServer.with(handler).start("BERTH_STREAM_PART_TIMEOUT=2");
        try (var lazy = open();
                var other = open()) {
            lazy.text("∞");
            lazy.read();
            awaitQuiet(handler);

            other.text("3");
            assertThat(other.read().text()).isEqualTo("1");
            // The time from part to part is over for the lazy one, and its connection is cut.
            await().until(() -> handler.open() == 0);
            server.awaitMetrics("berth_sockets 1.0");
        }
    }

    @Test
    void oneWhoClosesInTheMiddleStopsTheWork() throws Exception {
        var handler = new CountingStream();
        server = TestServer.with(handler).start();
        var goes = open();
        goes.text("∞");
        goes.read();
        goes.close();
        await().until(() -> handler.open() == 0);

        var says = open();
        says.text("∞");
        says.read();
        says.frame(true, RawSocket.CLOSE, new byte[] {3, (byte) 0xe8});
        await().until(() -> handler.open() == 0);
        says.close();
        server.awaitMetrics("berth_sockets 0.0");
    }

    @Test
    void noMoreIsReadThanMayWait() throws Exception {
        var gate = new Gate(1);
        talkTo(new GatedHandler(gate));
        for (int i = 0; i < 30; i++) {
            socket.text("m" + i);
        }
        gate.awaitArrival();
        // Behind the messages that nobody reads yet.
        socket.frame(true, RawSocket.PING, new byte[0]);
        gate.open();
        for (int i = 0; i < 30; ) {
            var frame = socket.read();
            if (frame.opcode() == RawSocket.TEXT) {
                assertThat(frame.text()).isEqualTo("M" + i);
                i++;
            }
        }
    }

    @Test
    void aMessageThatWaitedTooLongGetsAnErrorFrame() throws Exception {
        var gate = new Gate(1);
        talkTo(new GatedHandler(gate), "SAGEMAKER_MODEL_SERVER_TIMEOUT_SECONDS=1");
        socket.text("one").text("two");
        assertThat(socket.read().text()).contains("\"code\":504");
        assertThat(socket.read().text()).contains("\"code\":504");
        gate.open();
    }

    @Test
    void aSocketHasASessionOfItsOwnThatEndsWithIt() throws Exception {
        var handler = new RememberingHandler(LONG);
        server = TestServer.with(handler).start();
        try (var one = open();
                var two = open()) {
            assertThat(one.text("a").read().text()).isEqualTo("A");
            assertThat(two.text("x").read().text()).isEqualTo("X");
            assertThat(one.text("b").read().text()).isEqualTo("A,B");
            assertThat(one.head()).doesNotContain("Session");
        }
        await().until(() -> handler.closed() == 2);
    }

    @Test
    void aHandshakeOpensOrNamesASession() throws Exception {
        var handler = new RememberingHandler(LONG);
        server = TestServer.with(handler).start();
        String id;
        try (var first = open(ID, "NEW_SESSION")) {
            assertThat(first.text("a").read().text()).isEqualTo("A");
            id = first.head().split("X-Amzn-SageMaker-New-Session-Id: ")[1].split(";")[0];
        }
        try (var second = open(ID, id)) {
            assertThat(second.text("b").read().text()).isEqualTo("A,B");
        }
        assertThat(server.invoke("c", ID, id, "Content-Type", "text/plain").body())
                .isEqualTo("A,B,C");
        assertThat(handler.closed()).isZero();

        try (var unknown = RawSocket.open(server.port(), PATH, ID, "abc")) {
            assertThat(unknown.head()).startsWith("HTTP/1.1 400");
            assertThat(unknown.body()).contains("is not open here");
        }
    }

    @ParameterizedTest
    @CsvSource({
        "GET, Upgrade, 13, x, 400, 'expected 16 bytes in Base64'",
        "GET, Upgrade, 13, , 400, 'Sec-WebSocket-Key: found nothing, expected 16 bytes in Base64'",
        "GET, 'keep-alive, Upgrade', 8, dGhlIHNhbXBsZSBub25jZQ==, 426, expected 13",
        "GET, Upgrade, , dGhlIHNhbXBsZSBub25jZQ==, 426, 'Sec-WebSocket-Version: found nothing'",
        "GET, close, 13, dGhlIHNhbXBsZSBub25jZQ==, 400, upgrade headers",
        "POST, Upgrade, 13, dGhlIHNhbXBsZSBub25jZQ==, 400, found no WebSocket handshake"
    })
    void aHandshakeThatLacksSomethingIsToldWhatAndOpensNoSession(
            String method, String connection, String version, String key, int status, String why) throws Exception {
        var handler = new RememberingHandler(LONG);
        server = TestServer.with(handler).start();
        try (var refused = new RawConnection(server.port())) {
            refused.send("%s %s HTTP/1.1\r\nHost: localhost\r\nUpgrade: websocket\r\nConnection: %s\r\n"
                    .formatted(method, PATH, connection));
            if (version != null) {
                refused.send("Sec-WebSocket-Version: %s\r\n".formatted(version));
            }
            if (key != null) {
                refused.send("Sec-WebSocket-Key: %s\r\n".formatted(key));
            }
            var response = refused.send("\r\n").readResponse();
            assertThat(response).startsWith("HTTP/1.1 %d ".formatted(status)).contains(why);
            assertThat(response.contains("Sec-WebSocket-Version: 13")).isEqualTo(status == 426);
            assertThat(handler.opened()).isZero();
        }
    }

    /// Jetty's own sessions: Javalin asks for one at each handshake.
    @Test
    void noHandshakeLeavesAnHttpSessionOrACookie() throws Exception {
        server = TestServer.with(new TextHandler()).start();
        for (var path : List.of("/ping", "/invocations", "/nope", PATH)) {
            for (int i = 0; i < 20; i++) {
                try (var socket = RawSocket.open(server.port(), path)) {
                    assertThat(socket.head().toLowerCase(Locale.ROOT)).doesNotContain("cookie");
                }
            }
            var version = HttpRequest.newBuilder(server.uri(path)).header("Sec-WebSocket-Version", "13");
            assertThat(server.send(version.build()).headers().map()).doesNotContainKey("set-cookie");
        }
        // Each look collects all garbage first.
        await().pollInterval(Duration.ofSeconds(1))
                .until(() -> liveClasses().lines().noneMatch(line -> line.matches(".*\\.ManagedSession( .*)?")));
    }

    private static String liveClasses() throws Exception {
        return (String) ManagementFactory.getPlatformMBeanServer()
                .invoke(
                        new ObjectName("com.sun.management:type=DiagnosticCommand"),
                        "gcClassHistogram",
                        new Object[] {new String[0]},
                        new String[] {String[].class.getName()});
    }

    @ParameterizedTest
    @CsvSource({
        "/chat/completions?model=a%20b, 101",
        "/ping, 404",
        "/metrics, 404",
        "/invocations, 404",
        "/models/a/invoke, 404"
    })
    void pathsWithoutARouteAreTakenWhereTheHooksCanTalk(String path, int status) throws Exception {
        var handler = new RememberingHandler(LONG) {
            @Override
            public List<String> inputFn(InvocationRequest request) {
                assertThat(request.header("x-amzn-sagemaker-target-variant")).contains("a");
                assertThat(request.remaining()).isBetween(Duration.ofMillis(1), Duration.ofMinutes(10));
                return List.of(request.path() + "?" + request.query().orElse(""));
            }
        };
        server = TestServer.with(handler).start();
        socket = RawSocket.open(server.port(), path, "X-Amzn-SageMaker-Target-Variant", "a");
        assertThat(socket.head()).startsWith("HTTP/1.1 " + status);
        if (status == 101) {
            assertThat(socket.text("a").read().text()).isEqualTo(path.toUpperCase(Locale.ROOT));
        } else {
            assertThat(socket.body()).contains("\"type\":\"not_found\"").contains(path);
        }
    }

    @Test
    void otherHooksAnswerAtOnePathOnly() throws Exception {
        server = TestServer.with(new TextHandler()).start();
        socket = RawSocket.open(server.port(), "/chat");
        assertThat(socket.head()).startsWith("HTTP/1.1 404");
        assertThat(socket.body()).contains("expected " + PATH);
        assertThat(server.get(PATH).statusCode()).isEqualTo(400);
    }

    @Test
    void aServerThatStopsAnswersWhatItHasAndClosesWith1001() throws Exception {
        var gate = new Gate(1);
        server = TestServer.with(new GatedHandler(gate)).start();
        try (var idle = open();
                var busy = open()) {
            busy.text("last");
            gate.awaitArrival();
            var stop = server.stop();
            await().until(() -> server.get("/ping").statusCode() == 503);
            gate.open();

            assertThat(busy.read().text()).isEqualTo("LAST");
            assertThat(busy.read()).returns(1001, RawSocket.Frame::code);
            assertThat(idle.read()).returns(1001, RawSocket.Frame::code);
            stop.join();
        }
    }

    @Test
    void twoHundredSocketsWhoseHookFailsLeaveNothingBehind() throws Exception {
        var handler = new CountingInSessions();
        var random = new Random(22);
        server = TestServer.with(handler).start();
        failAnywhere(random);
        var leftovers = Leftovers.since(server);
        failAnywhere(random);
        leftovers.assertNone();
        await().untilAsserted(() -> assertThat(handler.open()).isZero());
        assertThat(handler.opened.get()).isEqualTo(400);
        await().until(() -> handler.closed.get() == 400);
    }

    private void failAnywhere(Random random) throws Exception {
        var sockets = new ArrayList<RawSocket>();
        for (int i = 0; i < 200; i++) {
            var socket = open();
            sockets.add(socket.text("50!" + (1 + random.nextInt(50))));
        }
        for (var socket : sockets) {
            var frame = socket.read();
            while (frame.opcode() != RawSocket.CLOSE && !frame.text().contains("error")) {
                frame = socket.read();
            }
            socket.close();
        }
    }

    /// Counts the sessions, too.
    private static final class CountingInSessions extends CountingStream implements SessionHandler<AutoCloseable> {
        private final AtomicInteger opened = new AtomicInteger();
        private final AtomicInteger closed = new AtomicInteger();

        @Override
        public AutoCloseable openSession(InvocationRequest handshake) {
            opened.incrementAndGet();
            return closed::incrementAndGet;
        }
    }

    @Test
    void idleSocketsHaveNoThreads() throws Exception {
        server = TestServer.with(new RememberingHandler(LONG)).start();
        server.get("/ping");
        int before = ManagementFactory.getThreadMXBean().getThreadCount();
        var sockets = new ArrayList<RawSocket>();
        for (int i = 0; i < 500; i++) {
            sockets.add(open());
        }
        server.awaitMetrics("berth_sockets 500.0");
        server.awaitMetrics("berth_sessions{model=\"model\"} 500.0");
        // Carriers of virtual threads, and hooks that opened sessions.
        assertThat(ManagementFactory.getThreadMXBean().getThreadCount() - before)
                .isLessThan(64);
        for (var socket : sockets) {
            socket.close();
        }
        assertNothingIsTaken();
        server.awaitMetrics("berth_sessions{model=\"model\"} 0.0");
    }

    private void talkTo(InferenceHandler<?, ?, ?> handler, String... variables) throws Exception {
        server = TestServer.with(handler).start(variables);
        socket = open();
    }

    private RawSocket open(String... headers) throws IOException {
        var socket = RawSocket.open(server.port(), PATH, headers);
        assertThat(socket.head()).startsWith("HTTP/1.1 101");
        return socket;
    }

    /// Until no more parts are made.
    private static void awaitQuiet(CountingStream handler) {
        var last = new int[1];
        await().pollInterval(Duration.ofMillis(200)).until(() -> {
            int before = last[0];
            last[0] = handler.parts();
            return last[0] == before;
        });
    }

    /// No socket, and nothing of the account of requests.
    private void assertNothingIsTaken() {
        var process = ProcessMemory.ofThisProcess();
        server.awaitMetrics("berth_sockets 0.0");
        await().untilAsserted(() -> {
            for (var part : List.of(process.few(), process.medium(), process.large())) {
                var all = part.tryTake(part.bytes());
                all.ifPresent(MemoryBudget.Share::close);
                assertThat(all).isPresent();
            }
        });
    }
}
