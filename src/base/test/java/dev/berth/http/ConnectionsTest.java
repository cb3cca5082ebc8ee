package dev.berth.http;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.berth.testing.CapturedLog;
import dev.berth.testing.EndlessConnections;
import dev.berth.testing.Gate;
import dev.berth.testing.GatedHandler;
import dev.berth.testing.RawConnection;
import dev.berth.testing.TestServer;
import dev.berth.testing.TextHandler;
import java.io.IOException;
import java.net.SocketTimeoutException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/// Connections that are slow, idle or too many.
@Timeout(600)
class ConnectionsTest {

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
                        .startsWith("HTTP/1.1 408 Request Timeout\n")
                        .contains("Connection: close", "\"code\":408", "within 10 s");
                assertThat(slow.readLine()).isNull();
            }
            assertThat(silent.readAll()).isEmpty();
            assertThat(idle.send(PING).readResponse()).startsWith("HTTP/1.1 200");
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
        try (var server = TestServer.with(new GatedHandler(gate)).start("BERTH_MAX_CONNECTIONS=3");
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
            assertThat(log.text()).containsOnlyOnce("all 3 connections are in use, the most that max-connections");
            assertThat(server.get("/metrics").body())
                    .contains("berth_connections_dropped_total{reason=\"made_way\"} 3.0");
        }
    }

    /// Tried again where the machine stood still for so long that the new connection was an old one.
    @Test
    void aNewConnectionThatHasSentNothingYetStaysWhileAnIdleOneCanGo() throws Exception {
        try (var server = TestServer.with(new TextHandler()).start("BERTH_MAX_CONNECTIONS=2")) {
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
                        .start(
                                "SAGEMAKER_MODEL_SERVER_WORKERS=2",
                                "BERTH_MAX_CONNECTIONS=2",
                                "AIP_HEALTH_ROUTE=/health");
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
            var refused = new ArrayList<RawConnection>();
            for (int i = 0; i < 50; i++) {
                refused.add(new RawConnection(server.port()).send(REQUEST));
            }
            for (var connection : refused) {
                assertThat(connection.readResponse())
                        .startsWith("HTTP/1.1 503 Service Unavailable\n")
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
        try (var server = TestServer.with(new TextHandler()).start("BERTH_MAX_CONNECTIONS=2")) {
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
            // The one that asks.
            server.awaitMetrics("berth_connections 1.0");
        }
    }

    @Test
    void anAddressHasNoMoreThanItMayHave() throws Exception {
        try (var server = TestServer.with(new TextHandler()).start("BERTH_MAX_CONNECTIONS_PER_ADDRESS=2");
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
            server.awaitMetrics("berth_connections 2.0", "reason=\"address\"} ");
        }
    }

    @Test
    void whoDoesNotTakeAnAnswerMakesWay() throws Exception {
        var large = "a".repeat(20 << 20);
        var head = "POST /invocations HTTP/1.1\r\nHost: x\r\nContent-Length: ";
        try (var server = TestServer.with(new TextHandler()).start("BERTH_MAX_CONNECTIONS=1");
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
    @Test
    @Tag("slow")
    void aBodyWithoutEndKeepsNobodyElseOut() throws Exception {
        var chunked = "POST /invocations HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n";
        try (var server = TestServer.with(new TextHandler()).start()) {
            int count = Runtime.getRuntime().availableProcessors() + 1;
            EndlessConnections.assertKeepNobodyOut(server, server.port(), count, chunked, "1\r\na\r\n".repeat(4000));
        }
    }
}
