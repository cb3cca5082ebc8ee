package dev.berth.batching;

import static dev.berth.batching.Answers.assertAnswered;
import static dev.berth.batching.Answers.assertRefused;
import static dev.berth.batching.Answers.thrown;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.berth.error.ErrorType;
import dev.berth.error.ServingException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/// Requests that nobody waits for any more: expired, abandoned, interrupted.
@Timeout(600)
class GoneCallersTest {

    /// Long enough for a busy machine to begin what is asked.
    private static final Duration SHORT = Duration.ofSeconds(1);

    @Test
    void aRequestExpiresWhileItIsQueuedAndMakesRoomAtOnce() throws Exception {
        try (var serving = Serving.started()) {
            serving.holdWorker();
            assertRefused(serving.ask(SHORT, () -> false, "a", "b", "c", "d", "e", "f"), ErrorType.DEADLINE_EXCEEDED)
                    .hasMessageMatching("the request's time ran out while it was queued");
            assertThat(serving.depth()).isZero();
            var next = serving.askAndWait("1", "2", "3", "4", "5", "6");
            serving.model.release();

            assertAnswered(next, "1", "2", "3", "4", "5", "6");
            assertThat(serving.model.batches)
                    .containsExactly(List.of("hold"), List.of("1", "2", "3", "4"), List.of("5", "6"));
            serving.assertMeasured(
                    "berth_expired_total{model=\"words\"} 1.0",
                    "berth_abandoned_total{model=\"words\"} 6.0",
                    "berth_queue_depth{model=\"words\"} 0.0");
        }
    }

    @Test
    void aRequestThatExpiresWhileItRunsInterruptsItsPredictor() throws Exception {
        try (var serving = Serving.started()) {
            assertRefused(serving.ask(SHORT, () -> false, "hold"), ErrorType.DEADLINE_EXCEEDED)
                    .hasMessageEndingWith("while the model ran");

            assertAnswered(serving.ask("calm"), "CALM");
            assertThat(serving.model.events).contains("interrupt 0 on berth-worker-0");
            serving.assertMeasured(
                    "berth_expired_total{model=\"words\"} 1.0", "berth_abandoned_total{model=\"words\"} 0.0");
        }
    }

    @Test
    void aBatchThatSomebodyStillWaitsForIsNotInterrupted() throws Exception {
        try (var serving = Serving.started(1, new BatchLimits(2, 1_000, Duration.ofHours(1), 6, Duration.ZERO))) {
            var patient = serving.askAndWait("hold");
            var impatient = serving.ask("a");
            serving.awaitRunning("hold", "a");
            impatient.cancel(true);
            serving.model.release();

            assertAnswered(patient, "HOLD");
            assertThat(serving.model.events).containsExactly("open 0");
        }
    }

    @Test
    void anAbandonedRequestIsDroppedBeforeItCostsAnythingAndItsCallerIsWoken() throws Exception {
        var gone = new AtomicBoolean();
        try (var serving = Serving.started()) {
            serving.holdWorker();
            var abandoned = serving.ask(Serving.LONG, gone::get, "a", "b", "c");
            serving.awaitDepth(1);
            var other = serving.askAndWait("d", "e");
            gone.set(true);
            serving.model.release();

            assertThat(thrown(abandoned))
                    .isInstanceOfSatisfying(
                            ServingException.class, e -> assertThat(e.type()).isEqualTo(ErrorType.CALLER_GONE));
            assertAnswered(other, "D", "E");
            assertThat(serving.model.batches)
                    .as("the room is filled up")
                    .containsExactly(List.of("hold"), List.of("d", "e"));
            serving.assertMeasured(
                    "berth_abandoned_total{model=\"words\"} 3.0", "berth_queue_depth{model=\"words\"} 0.0");
        }
    }

    @Test
    void aRequestIsAskedOnceForABatchAndAQuestionThatFailsDropsNobody() throws Exception {
        var asked = new AtomicInteger();
        try (var serving = Serving.started()) {
            serving.holdWorker();
            var request = serving.ask(
                    Serving.LONG,
                    () -> {
                        throw new IllegalStateException("question " + asked.incrementAndGet());
                    },
                    "a",
                    "b",
                    "c",
                    "d",
                    "e");
            serving.awaitDepth(1);
            serving.model.release();

            assertAnswered(request, "A", "B", "C", "D", "E");
            assertThat(asked).as("two batches").hasValue(2);
        }
    }

    @Test
    void anInterruptedRequestLeavesTheQueue() throws Exception {
        try (var serving = Serving.started()) {
            serving.holdWorker();
            var interrupted = serving.askAndWait("a", "b");
            var other = serving.askAndWait("c");
            interrupted.cancel(true);
            serving.awaitDepth(1);
            serving.model.release();

            assertAnswered(other, "C");
            assertThat(serving.model.batches).containsExactly(List.of("hold"), List.of("c"));
        }
    }

    @Test
    void anInterruptedRequestInterruptsItsPredictor() throws Exception {
        try (var serving = Serving.started()) {
            serving.askAndHold().cancel(true);
            await().until(() -> serving.model.events.contains("interrupt 0 on berth-worker-0"));

            assertAnswered(serving.ask("calm"), "CALM");
        }
    }

    @Test
    void anInterruptNeverReachesALaterBatch() throws Exception {
        try (var serving = Serving.started(1, new BatchLimits(1, 1_000, Duration.ZERO, 1_000, Duration.ZERO))) {
            for (int i = 0; i < 2_000; i++) {
                var hasty = serving.ask(
                        Duration.ofNanos(ThreadLocalRandom.current().nextInt(200_000)), () -> false, "a", "b");
                assertAnswered(serving.ask("calm"), "CALM");
                hasty.cancel(true);
            }
        }
    }

    @Test
    @Tag("slow")
    void oneSlowRecordDoesNotTakeTheTimeOfTheOthersInItsBatch() throws Exception {
        try (var serving = Serving.started(1, new BatchLimits(3, 1_000, Duration.ofHours(1), 6, Duration.ZERO))) {
            var slow = serving.ask(Duration.ofSeconds(8), () -> false, "hold");
            serving.awaitDepth(1);
            var quick = serving.ask(Duration.ofSeconds(8), () -> false, "a");
            serving.awaitDepth(2);
            var other = serving.ask(Duration.ofSeconds(8), () -> false, "b");

            assertAnswered(quick, "A");
            assertAnswered(other, "B");
            assertRefused(slow, ErrorType.DEADLINE_EXCEEDED)
                    .hasMessageContaining("for one record while others waited for it");
            assertThat(serving.model.batches).startsWith(List.of("hold", "a", "b"));
        }
    }

    @Test
    void workersThatDoNotComeBackAreCountedOutUntilTheyDo() throws Exception {
        try (var serving = Serving.started()) {
            assertRefused(serving.ask(SHORT, () -> false, "stuck"), ErrorType.DEADLINE_EXCEEDED);
            assertThat(serving.batcher.findStuck(Duration.ofHours(1))).isEmpty();

            assertThat(serving.batcher.findStuck(Duration.ZERO))
                    .extracting(Thread::getName)
                    .containsExactly("berth-worker-0");
            assertThat(serving.batcher.liveWorkers()).isZero();
            assertRefused(serving.ask("a"), ErrorType.NOT_READY)
                    .hasMessage("words has no worker that can predict: predictFn does not end on 1 of them");
            serving.assertMeasured("berth_workers{model=\"words\"} 0.0", "berth_stuck_hooks{model=\"words\"} 1.0");

            serving.model.release();
            await().until(() -> serving.batcher.liveWorkers() == 1);
            assertAnswered(serving.ask("b"), "B");
            serving.assertMeasured("berth_workers{model=\"words\"} 1.0", "berth_stuck_hooks{model=\"words\"} 0.0");
        }
    }
}
