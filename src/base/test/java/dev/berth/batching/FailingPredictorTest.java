package dev.berth.batching;

import static dev.berth.batching.Answers.assertAnswered;
import static dev.berth.batching.Answers.assertFailed;
import static dev.berth.batching.Answers.assertRefused;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.berth.error.ErrorType;
import dev.berth.hooks.ModelUnusableException;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

@Timeout(600)
class FailingPredictorTest {

    @ParameterizedTest
    @ValueSource(strings = {"poison", "memory", "short", "null", "nothing"})
    void onlyTheCulpritFailsAndItsNeighboursAreAnswered(String culprit) throws Exception {
        try (var serving = Serving.started()) {
            serving.holdWorker();
            var before = serving.askAndWait("a");
            var guilty = serving.askAndWait(culprit);
            var after = serving.askAndWait("b", "c");
            serving.model.release();

            assertAnswered(before, "A");
            assertFailed(guilty);
            assertAnswered(after, "B", "C");
            assertThat(serving.model.batches)
                    .containsExactly(
                            List.of("hold"),
                            List.of("a", culprit, "b", "c"),
                            List.of("a"),
                            List.of(culprit),
                            List.of("b"),
                            List.of("c"));
            assertThat(serving.batcher.liveWorkers()).isOne();
        }
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "short | found 0 predictions, expected 1, one for each record",
                "null | found null as prediction 1 of 1, expected one for each record",
                "nothing | found null, expected a list of 1 predictions, one for each record"
            })
    void aWrongCountIsNamed(String culprit, String message) throws Exception {
        try (var serving = Serving.started()) {
            assertFailed(serving.ask(culprit))
                    .isInstanceOf(IllegalStateException.class)
                    .hasMessage(message);
        }
    }

    @Test
    void theCauseIsWhatThePredictorThrewForTheFirstBadRecord() throws Exception {
        try (var serving = Serving.started()) {
            assertFailed(serving.ask("a", "poison", "memory"))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessage("poison");
        }
    }

    @Test
    void onceARecordHasFailedTheOthersOfItsRequestCostNothing() throws Exception {
        try (var serving = Serving.started()) {
            assertFailed(serving.ask("a", "poison", "b", "c", "d", "e")).hasMessage("poison");

            assertAnswered(serving.ask("z"), "Z");
            assertThat(serving.model.batches)
                    .containsExactly(List.of("a", "poison", "b", "c"), List.of("a"), List.of("poison"), List.of("z"));
            serving.assertMeasured(
                    "berth_abandoned_total{model=\"words\"} 2.0", "berth_queue_depth{model=\"words\"} 0.0");
        }
    }

    @Test
    void anErrorForASingleRecordLeavesTheWorkerAlive() throws Exception {
        try (var serving = Serving.started()) {
            assertFailed(serving.ask("memory")).isInstanceOf(OutOfMemoryError.class);

            assertAnswered(serving.ask("a"), "A");
        }
    }

    @Test
    void aLostWorkerFailsItsBatchClosesItsPredictorAndTheOtherWorkerGoesOn() throws Exception {
        try (var serving = Serving.started(2, new BatchLimits(4, 1_000, Duration.ZERO, 6, Duration.ZERO))) {
            assertFailed(serving.ask("a", "lost", "b")).isInstanceOf(ModelUnusableException.class);

            await().until(() -> serving.batcher.liveWorkers() == 1);
            assertAnswered(serving.ask("c"), "C");
            await().until(() -> serving.model.events.stream().anyMatch(event -> event.matches("close \\d")));
            serving.assertMeasured("berth_workers{model=\"words\"} 1.0");
        }
    }

    @Test
    void aWorkerLostDuringTheRetriesFailsWhatIsLeftOfTheBatch() throws Exception {
        try (var serving = Serving.started()) {
            serving.holdWorker();
            var first = serving.askAndWait("a");
            var poison = serving.askAndWait("poison");
            var lost = serving.askAndWait("lost");
            var last = serving.askAndWait("b");
            serving.model.release();

            assertAnswered(first, "A");
            assertFailed(poison).hasMessage("poison");
            assertFailed(lost).isInstanceOf(ModelUnusableException.class);
            assertFailed(last).isInstanceOf(ModelUnusableException.class);
        }
    }

    @Test
    void withTheLastWorkerWaitingRequestsFailAndNewOnesAreRefusedAtOnce() throws Exception {
        try (var serving = Serving.started(1, new BatchLimits(2, 1_000, Duration.ZERO, 6, Duration.ZERO))) {
            serving.holdWorker();
            var lost = serving.askAndWait("lost", "a");
            var waiting = serving.askAndWait("b", "c");
            serving.model.release();

            assertFailed(lost).isInstanceOf(ModelUnusableException.class);
            assertRefused(waiting, ErrorType.NOT_READY).hasMessage("words has lost its last worker");
            assertRefused(serving.ask("d"), ErrorType.NOT_READY).hasMessage("words has no worker that can predict");
            assertThat(serving.batcher.liveWorkers()).isZero();
            assertThat(serving.depth()).isZero();
            serving.assertMeasured("berth_workers{model=\"words\"} 0.0", "berth_queue_depth{model=\"words\"} 0.0");
        }
    }

    @Test
    void predictorsOpenOneAfterAnother() throws Exception {
        try (var serving = Serving.started(3, new BatchLimits(1, 1, Duration.ZERO, 1, Duration.ZERO))) {
            assertThat(serving.model.events).containsExactly("open 0", "open 1", "open 2");
        }
    }

    @ParameterizedTest
    @CsvSource({"0, open 0", "1, open 0;open 1;close 0"})
    void aPredictorThatCannotOpenClosesTheEarlierOnes(int worker, String events) {
        var model = new FakeModel();
        model.failingToOpen.add(worker);

        assertThatThrownBy(() ->
                        new Serving(model, Serving.pool(3), new BatchLimits(1, 1, Duration.ZERO, 1, Duration.ZERO)))
                .hasMessage("no model for worker " + worker);
        assertThat(String.join(";", model.events)).isEqualTo(events);
    }
}
