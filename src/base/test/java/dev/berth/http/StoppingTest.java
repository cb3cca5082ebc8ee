package dev.berth.http;

import static dev.berth.testing.TestServer.assertStatus;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import ch.qos.logback.classic.spi.ILoggingEvent;
import dev.berth.serving.ServedModel;
import dev.berth.testing.CapturedLog;
import dev.berth.testing.Gate;
import dev.berth.testing.GatedHandler;
import dev.berth.testing.RawConnection;
import dev.berth.testing.TestServer;
import dev.berth.testing.TextHandler;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.util.ArrayList;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Future;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/// What a server that stops says, as after SIGTERM.
@Timeout(600)
class StoppingTest {

    @Test
    @Tag("slow")
    @Tag("RUN-07")
    void inItsLameDuckTimeItServesOnAndPingIs503() throws Exception {
        var server = TestServer.with(new TextHandler()).start("BERTH_LAME_DUCK_SECONDS=5");
        assertThat(server.invoke("a").headers().firstValue("Connection")).isEmpty();
        var stopped = server.stop();
        await().until(() -> server.get("/ping").statusCode() == 503);

        var answer = server.invoke("a");
        assertThat(answer.statusCode()).isEqualTo(200);
        assertThat(answer.body()).isEqualTo("A");
        assertThat(answer.headers().firstValue("Connection")).contains("close");
        assertThat(server.get("/ping").body()).contains("stopping");
        assertThat(stopped).isNotDone();
        stopped.get();
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 1})
    @Tag("slow")
    void whatDoesNotEndWithinTheDrainIsRefusedWithWhatWaits(int seconds) throws Exception {
        var gate = new Gate(1);
        var handler = new GatedHandler(gate);
        try (var log = new CapturedLog(ServedModel.class);
                var server = TestServer.with(handler)
                        .start("SAGEMAKER_MODEL_SERVER_WORKERS=1", "BERTH_DRAIN_SECONDS=" + seconds)) {
            var running = server.invokeAsync("a");
            gate.awaitArrival();
            var waiting = server.invokeAsync("b");
            server.awaitQueued(1);
            server.server().close();
            assertStatus(running.join(), 503, "has stopped");
            assertStatus(waiting.join(), 503, "has stopped");
            assertThat(handler.predicted()).isZero();
            assertThat(log.events())
                    .extracting(ILoggingEvent::getFormattedMessage)
                    .containsExactly("model: gave up the requests that still ran after %d s".formatted(seconds));
        }
    }

    /// While an upload that has stalled keeps the server from ending, Jetty itself refuses what comes.
    @Test
    @Tag("slow")
    void whatComesWhileTheLastResponsesLeaveIsToldToComeAgain() throws Exception {
        try (var server = TestServer.with(new TextHandler()).start("BERTH_DRAIN_SECONDS=0");
                var stalled = new RawConnection(server.port())) {
            stalled.send(
                    "POST /invocations HTTP/1.1\r\nHost: a\r\nContent-Type: text/plain\r\nContent-Length: 9\r\n\r\na");
            assertThat(server.invoke("a").statusCode()).isEqualTo(200);
            var request = server.request("/invocations", BodyPublishers.ofString("a"));
            var stopped = server.stop();
            var answers = new ArrayList<CompletableFuture<HttpResponse<String>>>();
            do {
                answers.add(server.client().sendAsync(request, BodyHandlers.ofString()));
                // A connection that the listener took at its end has no answer before the process has ended.
                CompletableFuture.anyOf(stopped, answers.getLast())
                        .exceptionally(_ -> null)
                        .join();
            } while (!stopped.isDone() && !answers.getLast().isCompletedExceptionally());
            stopped.get();
            var refusals = answers.stream()
                    .filter(answer -> answer.state() == Future.State.SUCCESS)
                    .map(Future::resultNow)
                    .filter(response -> response.statusCode() != 200)
                    .toList();
            assertThat(refusals).isNotEmpty().allSatisfy(response -> {
                assertStatus(response, 503, "stop");
                assertThat(response.headers().firstValue("Retry-After")).isPresent();
            });
        }
    }
}
