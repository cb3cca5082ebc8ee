package dev.berth.http;

import static dev.berth.testing.TestServer.assertStatus;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import ch.qos.logback.classic.Level;
import dev.berth.hooks.ModelUnusableException;
import dev.berth.testing.CapturedLog;
import dev.berth.testing.Gate;
import dev.berth.testing.GatedHandler;
import dev.berth.testing.RawConnection;
import dev.berth.testing.TestServer;
import dev.berth.testing.TextHandler;
import java.net.http.HttpRequest;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class PingTest {

    @Test
    @Tag("PING-01")
    @Tag("PING-02")
    @Tag("PING-03")
    @Tag("PING-05")
    @Timeout(value = 8, unit = TimeUnit.MINUTES)
    void aReadyModelIsAnsweredWith200AndAnEmptyBody() throws Exception {
        try (var server = TestServer.sample().start()) {
            var post = HttpRequest.newBuilder(server.uri("/ping")).POST(HttpRequest.BodyPublishers.noBody());
            for (var response : List.of(server.get("/ping"), server.send(post.build()))) {
                assertThat(response.statusCode()).isEqualTo(200);
                assertThat(response.body()).isEmpty();
            }
        }
    }

    @Test
    @Tag("PING-04")
    void whileTheModelLoadsItIs503AndSoAreInvocations() throws Exception {
        var gate = new Gate(1);
        try (var server =
                TestServer.with(TextHandler.before("modelFn", _ -> gate.pass())).startWithoutWaiting()) {
            gate.awaitArrival();
            assertThat(server.get("/ping").statusCode()).isEqualTo(503);
            var invocation = server.invoke("a");
            assertStatus(invocation, 503, "loading");
            gate.open();
            server.server().awaitReady();
            assertThat(server.get("/ping").statusCode()).isEqualTo(200);
        }
    }

    @Test
    @Tag("PING-06")
    void aServerWhoseWorkersAreAllBusyIsHealthy() throws Exception {
        var gate = new Gate(2);
        try (var server = TestServer.with(new GatedHandler(gate)).start("SAGEMAKER_MODEL_SERVER_WORKERS=2")) {
            var busy = Stream.generate(() -> server.invokeAsync("a")).limit(20).toList();
            gate.awaitArrival();
            // Delayed by them, it would be answered never.
            for (int i = 0; i < 20; i++) {
                assertThat(server.get("/ping").statusCode()).isEqualTo(200);
            }
            gate.open();
            busy.forEach(CompletableFuture::join);
        }
    }

    @Test
    @Tag("PING-06")
    void hooksThatComputeWithoutEndOnEveryRequestThreadDoNotDelayIt() throws Exception {
        var stop = new AtomicBoolean();
        var handler = TextHandler.before("inputFn", _ -> {
            while (!stop.get()) {
                Thread.onSpinWait();
            }
        });
        try (var server = TestServer.with(handler).start()) {
            var busy = Stream.generate(() -> server.invokeAsync("a")).limit(100).toList();
            try {
                // Any time will do here: delayed, it would be answered never.
                for (int i = 0; i < 20; i++) {
                    assertThat(server.get("/ping").statusCode()).isEqualTo(200);
                }
            } finally {
                stop.set(true);
            }
            busy.forEach(CompletableFuture::join);
        }
    }

    @Test
    @Tag("PING-07")
    @Tag("OBS-02")
    void ahundredPingsAreAll200AndLeaveNoLine() throws Exception {
        try (var server = TestServer.with(new TextHandler()).start();
                var log = new CapturedLog()) {
            for (int i = 0; i < 100; i++) {
                assertThat(server.get("/ping").statusCode()).isEqualTo(200);
            }
            assertThat(log.events()).noneMatch(event -> event.getLevel().isGreaterOrEqual(Level.INFO));
        }
    }

    @Test
    @Tag("PING-09")
    void whenTheLastWorkerIsLostItIs503ForGood() throws Exception {
        var gate = new Gate(1);
        var handler = TextHandler.before("predictFn", lines -> {
            if (lines.contains("last")) {
                gate.pass();
            }
            if (!lines.contains("fine")) {
                throw new ModelUnusableException("the device is gone");
            }
        });
        try (var server =
                TestServer.with(handler).start("SAGEMAKER_MODEL_SERVER_WORKERS=2", "BERTH_MAX_BATCH_SIZE=1")) {
            assertStatus(server.invoke("first"), 500, "the device is gone");
            server.awaitMetrics("berth_workers{model=\"model\"} 1.0");
            assertThat(server.get("/ping").statusCode()).isEqualTo(200);
            assertThat(server.invoke("fine").body()).isEqualTo("FINE");
            var last = server.invokeAsync("last");
            gate.awaitArrival();
            var waiting = server.invokeAsync("fine");
            server.awaitQueued(1);
            gate.open();
            assertStatus(last.join(), 500, "the device is gone");
            assertStatus(waiting.join(), 503, "has no worker that can predict");
            await().untilAsserted(
                            () -> assertThat(server.get("/ping").statusCode()).isEqualTo(503));
            assertStatus(server.invoke("fine"), 503, "no worker that can predict");
        }
    }

    @Test
    @Tag("PING-10")
    void aClientThatHangsUpLeavesNoErrorAndNoConnection() throws Exception {
        try (var server = TestServer.with(new TextHandler()).start();
                var log = new CapturedLog()) {
            for (int i = 0; i < 50; i++) {
                try (var connection = new RawConnection(server.port())) {
                    connection.socket().setSoLinger(true, 0);
                    connection.send("GET /ping HTTP/1.1\r\nHost: x\r\n\r\n");
                }
            }
            assertThat(server.get("/ping").statusCode()).isEqualTo(200);
            assertThat(log.events()).noneMatch(event -> event.getLevel().isGreaterOrEqual(Level.WARN));
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"AHC/2.0", "Go-http-client/1.1"})
    @Tag("PING-11")
    void thePlatformsClientsReuseTheirConnection(String userAgent) throws Exception {
        try (var server = TestServer.with(new TextHandler()).start();
                var connection = new RawConnection(server.port())) {
            for (int i = 0; i < 3; i++) {
                connection.send("GET /ping HTTP/1.1\r\nHost: 169.254.255.131:8080\r\nUser-Agent: "
                        + userAgent
                        + "\r\nConnection: keep-alive\r\n\r\n");
                assertThat(connection.readResponse()).startsWith("HTTP/1.1 200").doesNotContain("Connection: close");
            }
        }
    }
}
