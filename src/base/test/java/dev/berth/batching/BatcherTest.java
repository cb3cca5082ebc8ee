package dev.berth.batching;

import static dev.berth.batching.Answers.assertAnswered;
import static dev.berth.batching.Answers.assertRefused;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.berth.error.ErrorType;
import dev.berth.telemetry.RequestTrace;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(600)
class BatcherTest {

    private static final String LONG_WORD = "w".repeat(20);

    @Test
    @Tag("BAT-07")
    void predictionsComeInTheOrderOfTheRecords() throws Exception {
        try (var serving = Serving.started()) {
            assertAnswered(
                    serving.ask("c", LONG_WORD, "a", "b", "e", "d"),
                    "C",
                    LONG_WORD.toUpperCase(Locale.ROOT),
                    "A",
                    "B",
                    "E",
                    "D");
        }
    }

    @Test
    @Tag("BAT-15")
    void recordsOfSeveralRequestsShareABatchAndEachRequestGetsItsOwn() throws Exception {
        try (var serving = Serving.started()) {
            var held = serving.askAndHold();
            var first = serving.askAndWait("a", "b");
            var second = serving.askAndWait("c");
            var third = serving.askAndWait("d", "e");
            serving.model.release();

            assertAnswered(held, "HOLD");
            assertAnswered(first, "A", "B");
            assertAnswered(second, "C");
            assertAnswered(third, "D", "E");
            assertThat(serving.model.batches)
                    .containsExactly(List.of("hold"), List.of("a", "b", "c", "d"), List.of("e"));
        }
    }

    @Test
    void theRecordWhoseTurnItIsChoosesTheBucketAndOthersOfItsBucketComeAlong() throws Exception {
        try (var serving = Serving.started()) {
            serving.holdWorker();
            var asked = List.of(
                    serving.askAndWait("a", LONG_WORD), serving.askAndWait("b"), serving.askAndWait(LONG_WORD + "x"));
            serving.model.release();
            for (var future : asked) {
                future.get();
            }

            assertThat(serving.model.batches)
                    .containsExactly(List.of("hold"), List.of("a", "b"), List.of(LONG_WORD + "x", LONG_WORD));
        }
    }

    @Test
    void aBatchStaysWithinItsPaddedCostAndARecordBeyondItIsServedAlone() throws Exception {
        var beyond = "w".repeat(31);
        try (var serving = Serving.started(1, new BatchLimits(4, 30, Duration.ZERO, 6, Duration.ZERO))) {
            serving.holdWorker();
            var cheap = serving.askAndWait("w".repeat(10), "w".repeat(15), "w");
            var dear = serving.askAndWait(beyond, beyond);
            serving.model.release();
            cheap.get();
            dear.get();

            assertThat(serving.model.batches)
                    .containsExactly(
                            List.of("hold"),
                            List.of("w".repeat(10), "w".repeat(15)),
                            List.of(beyond),
                            List.of("w"),
                            List.of(beyond));
        }
    }

    @Test
    void aFullQueueRefusesARequestAndKeepsWhatItHas() throws Exception {
        try (var serving = Serving.started(1, new BatchLimits(4, 1_000, Duration.ZERO, 2, Duration.ZERO))) {
            serving.holdWorker();
            var first = serving.askAndWait("a", "b", "c", "d");
            var second = serving.askAndWait("e", "f");
            assertRefused(serving.ask("g"), ErrorType.OVERLOADED)
                    .hasMessage(
                            "words is overloaded: found 2 requests waiting, expected fewer than 2; try again later");
            assertThatThrownBy(() -> serving.batcher.requireRoom(System.nanoTime() + Serving.LONG.toNanos()))
                    .hasMessageContaining("found 2 requests waiting");
            assertThat(serving.depth()).isEqualTo(2);
            serving.model.release();

            assertAnswered(first, "A", "B", "C", "D");
            assertAnswered(second, "E", "F");
            assertThat(serving.model.batches.stream().flatMap(List::stream)).doesNotContain("g");
            serving.assertMeasured(
                    "berth_overloaded_total{model=\"words\"} 2.0",
                    "berth_records_total{model=\"words\"} 7.0",
                    "berth_queue_depth{model=\"words\"} 0.0");
        }
    }

    @Test
    void aRequestOfManyRecordsTakesOnePlaceOfTheQueue() throws Exception {
        var records = IntStream.range(0, 50).mapToObj(i -> "r" + i).toArray(String[]::new);
        try (var serving = Serving.started(1, new BatchLimits(4, 1_000, Duration.ZERO, 3, Duration.ZERO))) {
            serving.holdWorker();
            var large = List.of(serving.askAndWait(records), serving.askAndWait(records));
            var small = serving.askAndWait("a");
            assertRefused(serving.ask("one more"), ErrorType.OVERLOADED);
            serving.model.release();
            assertAnswered(small, "A");
            for (var asked : large) {
                assertAnswered(
                        asked, IntStream.range(0, 50).mapToObj(i -> "R" + i).toArray(String[]::new));
            }
        }
    }

    @Test
    void aRequestOfManyRecordsHoldsUpNoOthersAndIsNotHeldUpForeverItself() throws Exception {
        try (var serving = Serving.started(1, new BatchLimits(1, 1_000, Duration.ZERO, 20, Duration.ZERO))) {
            serving.holdWorker();
            var large = serving.askAndWait("a", "b", "c", LONG_WORD);
            for (var word : List.of("s", "t", "u", "v", "w")) {
                var _ = serving.askAndWait(word);
            }
            serving.model.release();

            assertAnswered(large, "A", "B", "C", LONG_WORD.toUpperCase(Locale.ROOT));
            assertThat(serving.model.batches.stream().flatMap(List::stream))
                    .containsExactly("hold", "a", "s", "t", "u", "b", "v", "w", "c", LONG_WORD);
        }
    }

    @Test
    void aDelayLetsABatchFillUpAndAFullOneGoesAtOnce() throws Exception {
        try (var serving = Serving.started(1, new BatchLimits(2, 1_000, Duration.ofHours(1), 6, Duration.ZERO))) {
            var first = serving.askAndWait("a");
            var second = serving.ask("b");

            assertAnswered(first, "A");
            assertAnswered(second, "B");
            assertThat(serving.model.batches).containsExactly(List.of("a", "b"));
        }
    }

    @Test
    void theDelayCountsAlsoForRecordsThatTheWorkerFindsWaiting() throws Exception {
        try (var serving = Serving.started(1, new BatchLimits(2, 1_000, Duration.ofHours(1), 6, Duration.ZERO))) {
            var held = serving.ask("hold", "x");
            serving.awaitRunning("hold", "x");
            var first = serving.askAndWait("a");
            serving.model.release();
            assertAnswered(held, "HOLD", "X");
            var second = serving.ask("b");

            assertAnswered(first, "A");
            assertAnswered(second, "B");
            assertThat(serving.model.batches).containsExactly(List.of("hold", "x"), List.of("a", "b"));
        }
    }

    @Test
    void afterTheDelayABatchGoesAsItIs() throws Exception {
        try (var serving = Serving.started(1, new BatchLimits(2, 1_000, Duration.ofMillis(5), 6, Duration.ZERO))) {
            assertAnswered(serving.ask("a"), "A");
        }
    }

    @Test
    void workersRunAtTheSameTime() throws Exception {
        try (var serving = Serving.started(2, new BatchLimits(4, 1_000, Duration.ZERO, 6, Duration.ZERO))) {
            serving.holdWorker();

            assertAnswered(serving.ask("a"), "A");
            assertThat(serving.batcher.liveWorkers()).isEqualTo(2);
            serving.assertMeasured("berth_workers{model=\"words\"} 2.0");
        }
    }

    @Test
    void paddingIsMeasured() throws Exception {
        try (var serving = Serving.started()) {
            assertAnswered(serving.ask("abc", "a"), "ABC", "A");
            serving.assertMeasured(
                    "berth_tokens_total{model=\"words\"} 4.0",
                    "berth_padding_tokens_total{model=\"words\"} 2.0",
                    "berth_batch_size_sum{model=\"words\"} 2.0");
        }
    }

    @Test
    void timesAreWithinTheRequest() throws Exception {
        try (var serving = Serving.started()) {
            serving.holdWorker();
            long deadline = System.nanoTime() + Serving.LONG.toNanos();
            var asked = serving.batcher.submit(
                    Serving.pieces(List.of("a")),
                    Serving.parts(1, deadline),
                    new Caller(() -> false, Map.of(), RequestTrace.NONE));
            serving.model.release();

            var times = asked.predicted().get();
            assertThat(times.queued()).isPositive();
            assertThat(times.predicted()).isPositive();
        }
    }
}
