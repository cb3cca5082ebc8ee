package dev.berth.command;

import static dev.berth.testing.TestServer.assertStatus;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.berth.handler.qa.EncodedQuestion;
import dev.berth.handler.qa.Parameters;
import dev.berth.handler.qa.QuestionAnsweringHandler;
import dev.berth.handler.qa.SpanModel;
import dev.berth.handler.task.TaskRecord;
import dev.berth.hooks.ModelContext;
import dev.berth.hooks.ModelUnusableException;
import dev.berth.testing.CapturedLog;
import dev.berth.testing.Gate;
import dev.berth.testing.GatedHandler;
import dev.berth.testing.RawConnection;
import dev.berth.testing.TestServer;
import dev.berth.testing.TextHandler;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/// The life of a server: how it starts, how it fails to, and how it stops.
class ServerTest {

    /// Seconds: a busy machine, or one that was stopped for a while, may need more than the default.
    private static final String PATIENT = "600";

    /// A model that notes when it is closed.
    private record FakeModel(List<String> closed) implements AutoCloseable {
        @Override
        public void close() {
            closed.add("model");
        }
    }

    /// A handler whose models, and which itself, note when they are closed.
    private static class FakeClosingHandler extends TextHandler implements AutoCloseable {
        final List<String> closed = new CopyOnWriteArrayList<>();
        final List<ModelContext> contexts = new CopyOnWriteArrayList<>();

        @Override
        public Object modelFn(ModelContext context) throws Exception {
            contexts.add(context);
            return new FakeModel(closed);
        }

        @Override
        public void close() {
            closed.add("handler");
        }
    }

    @Test
    void theModelOfEachWorkerIsLoadedOnceAndClosedBeforeTheHandler() throws Exception {
        var handler = new FakeClosingHandler();
        try (var _ = TestServer.with(handler).start("SAGEMAKER_MODEL_SERVER_WORKERS=3")) {
            assertThat(handler.contexts).extracting(ModelContext::worker).containsExactly(0, 1, 2);
            assertThat(handler.contexts)
                    .extracting(ModelContext::modelDirectory)
                    .containsOnly(TestServer.SAMPLE_ARTIFACT);
        }
        assertThat(handler.closed).containsExactly("model", "model", "model", "handler");
    }

    @Test
    @Tag("HOOK-04")
    @Tag("RUN-14")
    void aModelThatCannotBeLoadedIsNeverReadyAndLeavesNothingOpen() throws Exception {
        var handler = new FakeClosingHandler() {
            @Override
            public Object modelFn(ModelContext context) throws Exception {
                if (context.worker() == 1) {
                    throw new IllegalStateException("no weights");
                }
                return super.modelFn(context);
            }
        };
        try (var server = TestServer.with(handler).startWithoutWaiting("SAGEMAKER_MODEL_SERVER_WORKERS=2")) {
            assertThatThrownBy(() -> server.server().awaitReady())
                    .isInstanceOf(StartException.class)
                    .hasMessageContaining("no weights");
            assertThat(server.get("/ping").statusCode()).isEqualTo(503);
            assertThat(server.invoke("a").statusCode()).isEqualTo(503);
            assertThat(server.get("/execution-parameters").statusCode()).isEqualTo(503);
        }
        assertThat(handler.closed).containsExactly("model", "handler");
    }

    @Test
    @Tag("RUN-07")
    @Tag("RUN-08")
    void aStoppingServerAnswersWhatItHasTakenAndRefusesTheRest() throws Exception {
        var gate = new Gate(1);
        var server = TestServer.with(new GatedHandler(gate))
                .start("SAGEMAKER_MODEL_SERVER_WORKERS=1", "BERTH_DRAIN_SECONDS=" + PATIENT);
        var running = server.invokeAsync("running");
        gate.awaitArrival();
        var waiting = server.invokeAsync("waiting");
        server.awaitQueued(1);
        var stopped = server.stop();
        await().until(() -> server.get("/ping").statusCode() == 503);
        assertThat(server.invoke("late").statusCode()).isEqualTo(503);
        gate.open();
        assertThat(running.get().body()).isEqualTo("RUNNING");
        assertThat(waiting.get().body()).isEqualTo("WAITING");
        stopped.get();
    }

    @Test
    @Tag("slow")
    void aClientThatTakesItsResponseTooSlowlyDoesNotKeepTheServerFromStopping() throws Exception {
        var large = "x".repeat(100_000_000);
        var handler = TextHandler.answering(_ -> List.of(large));
        var server = TestServer.with(handler).start("BERTH_DRAIN_SECONDS=1");
        try (var log = new CapturedLog();
                var client = new RawConnection(server.port())) {
            client.send("POST /invocations HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\n\r\na");
            assertThat(client.readLine()).isEqualTo("HTTP/1.1 200 OK");
            var stopped = server.stop();
            await().pollInterval(Duration.ofMillis(50)).until(() -> {
                client.socket().getInputStream().readNBytes(100_000);
                return stopped.isDone();
            });
            stopped.get();
            // The second where the machine stood still for so long that nothing was taken.
            assertThat(log.text()).containsAnyOf("cut off responses", "Idle timeout expired");
        }
    }

    @Test
    @Tag("slow")
    @Tag("RUN-07")
    void aStoppingServerWaitsForBodiesThatAreStillBeingReadAndForHooks() throws Exception {
        var gate = new Gate(1);
        var handler = TextHandler.before("inputFn", _ -> gate.pass());
        var server = TestServer.with(handler).start("BERTH_DRAIN_SECONDS=" + PATIENT);
        try (var upload = new RawConnection(server.port())) {
            upload.send("POST /invocations HTTP/1.1\r\nHost: x\r\nContent-Length: 4\r\n\r\nsl");
            var decoding = server.invokeAsync("decoding");
            gate.awaitArrival();
            var stopped = server.stop();
            await().until(() -> server.get("/ping").statusCode() == 503);
            upload.send("ow");
            gate.open();
            assertThat(upload.readResponse()).startsWith("HTTP/1.1 200").endsWith("SLOW");
            assertThat(decoding.get().body()).isEqualTo("DECODING");
            stopped.get();
        }
    }

    @Test
    @Tag("PING-09")
    void aWorkerThatIsLostDoesNotTakeTheSharedModelWithIt() throws Exception {
        var handler = new QuestionAnsweringHandler(TestServer.SAMPLE_ARTIFACT) {
            @Override
            public List<Object> predictFn(List<TaskRecord<EncodedQuestion, Parameters>> records, SpanModel model) {
                if (records.getFirst().input().question().question().equals("gone?")) {
                    throw new ModelUnusableException("the device is gone");
                }
                return super.predictFn(records, model);
            }
        };
        try (var server = TestServer.with(handler).start("SAGEMAKER_MODEL_SERVER_WORKERS=2")) {
            assertStatus(server.invoke("{\"question\": \"gone?\", \"context\": \"Bob came.\"}"), 500);
            server.awaitMetrics("berth_workers{model=\"model\"} 1.0");
            assertThat(server.get("/ping").statusCode()).isEqualTo(200);
            var question = "{\"question\": \"Who came?\", \"context\": \"Bob came.\"}";
            assertThat(server.invoke(question).body()).contains("Bob");
        }
    }

    /// [Pulse] ends the process else.
    @Test
    void aPortThatOthersCrowdIsNoReasonToEnd() throws Exception {
        var patience = Duration.ofMinutes(2);
        try (var server = TestServer.with(new TextHandler()).start()) {
            assertThat(server.get("/ping").statusCode()).isEqualTo(200);
            assertThat(server.server().worksInside(patience)).isTrue();
            // Nobody has come in since then.
            assertThat(server.server().worksInside(patience)).isFalse();
            try (var _ = new RawConnection(server.port())) {
                await().until(() -> server.server().worksInside(patience));
            }
            server.close();
            assertThat(server.server().worksInside(patience)).isFalse();
        }
    }
}
