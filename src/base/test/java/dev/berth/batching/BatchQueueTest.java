package dev.berth.batching;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.berth.error.ErrorType;
import dev.berth.error.ServingException;
import dev.berth.hooks.PartStream;
import dev.berth.metrics.ServingMetrics;
import dev.berth.telemetry.RequestTrace;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/// What is let in, with a clock that only the test moves. The test's thread is the only worker.
class BatchQueueTest {

    private static final long SECOND = Duration.ofSeconds(1).toNanos();
    private static final long DEADLINE = 1000 * SECOND;

    private final AtomicLong now = new AtomicLong();
    private final ServingMetrics metrics = new ServingMetrics();

    /// Closed, so that it has no threads of its own.
    private final WorkerPool pool = new WorkerPool(1, () -> {}, metrics);

    private Batcher<String, String> batcher = batcher(new FakeModel());

    @AfterEach
    void stop() {
        batcher.close();
        metrics.close();
    }

    @Test
    void aRequestThatCannotBeInTimeIsRefusedAtOnce() throws Exception {
        ask("z", "a", "b", "c");
        predictInASecond();
        predictInASecond();

        assertThatThrownBy(() -> batcher.requireRoom(now.get() + SECOND))
                .isInstanceOfSatisfying(
                        ServingException.class, e -> assertThat(e.type()).isEqualTo(ErrorType.OVERLOADED))
                .hasMessage(
                        "words is overloaded: its records would wait 1.0 s, and the request's time is over in 1.0 s; try again later");
        assertThatCode(() -> batcher.requireRoom(now.get() + 2 * SECOND)).doesNotThrowAnyException();
    }

    @Test
    void aRequestWaitsInTurnAndNotForAllThatALargerOneHas() throws Exception {
        ask("a", "b", "c", "d");
        ask("e", "f");
        predictInASecond();
        predictInASecond();

        assertThatThrownBy(() -> batcher.requireRoom(now.get() + 2 * SECOND)).hasMessageContaining("would wait 2.0 s");
        assertThatCode(() -> batcher.requireRoom(now.get() + 4 * SECOND)).doesNotThrowAnyException();
    }

    @Test
    void whatARecordTakesAloneIsNoMeasure() throws Exception {
        ask("a");
        predictInASecond();
        ask("b");

        assertThatCode(() -> batcher.requireRoom(now.get() + 1)).doesNotThrowAnyException();
    }

    @Test
    void aWaitIsEstimatedByLengthAndNotByRecord() throws Exception {
        ask("l".repeat(400));
        ask("l".repeat(400));
        ask("a", "b", "c");
        predictInASecond();
        predictInASecond();

        assertThatCode(() -> batcher.requireRoom(now.get() + SECOND / 50)).doesNotThrowAnyException();
    }

    @Test
    void aQueueThatWasIdleRefusesNobodyForWhatItOnceTook() throws Exception {
        ask("a", "b");
        predictInASecond();
        predictInASecond();
        ask("c");

        assertThatCode(() -> batcher.requireRoom(now.get() + 1)).doesNotThrowAnyException();
    }

    /// Records that are predicted in steps stay for as long as their readers take. What counts is
    /// when the next one can begin.
    @Test
    void aStreamThatWouldNotBeginInTimeIsRefusedAtOnce() throws Exception {
        batcher = batcher(new Steps());
        for (int i = 0; i < 8; i++) {
            ask("a");
        }
        begin();
        assertThatCode(() -> batcher.requireRoom(now.get() + 1))
                .as("nothing is known yet")
                .doesNotThrowAnyException();
        beginASecondLater();
        beginASecondLater();

        assertThatThrownBy(() -> batcher.requireRoom(now.get() + 8 * SECOND))
                .isInstanceOfSatisfying(
                        ServingException.class, e -> assertThat(e.type()).isEqualTo(ErrorType.OVERLOADED))
                .hasMessageContaining("would wait 5.0 s");
        assertThatCode(() -> batcher.requireRoom(now.get() + 10 * SECOND)).doesNotThrowAnyException();
    }

    @Test
    void aLineOfStreamsThatDoesNotMoveRefusesMore() throws Exception {
        batcher = batcher(new Steps());
        ask("a");
        begin();
        now.addAndGet(100 * SECOND);
        ask("b");
        ask("c");
        now.addAndGet(5 * SECOND);

        assertThatThrownBy(() -> batcher.requireRoom(now.get() + 19 * SECOND))
                .hasMessageContaining("would wait 10.0 s");
        assertThatCode(() -> batcher.requireRoom(now.get() + 20 * SECOND)).doesNotThrowAnyException();
    }

    @Test
    void theTimeWithoutALineIsNoMeasureForStreams() throws Exception {
        batcher = batcher(new Steps());
        ask("a");
        ask("b");
        begin();
        begin();
        now.addAndGet(100 * SECOND);
        ask("c");
        ask("d");
        begin();

        assertThatCode(() -> batcher.requireRoom(now.get() + 1)).doesNotThrowAnyException();
    }

    @Test
    void aLineWhoseCallersHaveGoneIsNoMeasureForStreams() throws Exception {
        batcher = batcher(new Steps());
        ask("a");
        var goes = ask("b");
        begin();
        goes.abandon();
        now.addAndGet(100 * SECOND);
        ask("c");
        ask("d");
        begin();

        assertThatCode(() -> batcher.requireRoom(now.get() + 1)).doesNotThrowAnyException();
    }

    @Test
    void whoLeavesInTheMidstOfAnAnswerIsNoReasonToServeTheNewest() throws Exception {
        batcher = batcher(new Steps(), Duration.ofNanos(100));
        for (int i = 0; i < 3; i++) {
            var stream = ask("stream");
            begin();
            stream.abandon();
        }
        ask("a");
        now.set(101);
        ask("b");

        assertThat(batcher.queue.take(1)).extracting(piece -> piece.value).containsExactly("a");
    }

    private void begin() {
        assertThat(batcher.queue.take(1)).hasSize(1);
    }

    private void beginASecondLater() {
        now.addAndGet(SECOND);
        begin();
    }

    private Submission<String, String> ask(String... words) {
        return batcher.submit(
                Serving.pieces(List.of(words)),
                Serving.parts(words.length, DEADLINE),
                new Caller(() -> false, Map.of(), RequestTrace.NONE));
    }

    private void predictInASecond() {
        var pieces = batcher.queue.take(1);
        now.addAndGet(SECOND);
        pool.locked(() -> pieces.forEach(batcher.queue::answer));
    }

    private Batcher<String, String> batcher(PredictorFactory<String, String> model) {
        return batcher(model, Duration.ZERO);
    }

    private Batcher<String, String> batcher(PredictorFactory<String, String> model, Duration targetDelay) {
        return Serving.idle(pool, new BatchLimits(1, 1_000, Duration.ZERO, 100, targetDelay), model, now::get, metrics);
    }

    /// A model whose predictor is never asked.
    private static final class Steps implements PredictorFactory<String, String> {
        @Override
        public Predictor<String, String> open(int worker) {
            return new StepPredictor<String, String, String>() {
                @Override
                public String begin(String record) {
                    throw new IllegalStateException("found a record, expected none");
                }

                @Override
                public void step(List<PartStream<String, String>> streams) {}

                @Override
                public void end(String state) {}

                @Override
                public List<String> predict(List<String> records) {
                    throw new IllegalStateException("found records, expected none");
                }

                @Override
                public void close() {}
            };
        }
    }
}
