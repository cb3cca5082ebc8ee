package dev.berth.batching;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.berth.error.ErrorType;
import dev.berth.error.ServingException;
import dev.berth.metrics.ServingMetrics;
import dev.berth.telemetry.RequestTrace;
import dev.berth.testing.TestThreads;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/// What is let in, with a clock that only the test moves. The test's thread is the only worker.
class BatchQueueTest {

    private static final long SECOND = Duration.ofSeconds(1).toNanos();
    private static final long DEADLINE = 1000 * SECOND;

    private final AtomicLong now = new AtomicLong();
    private final ServingMetrics metrics = new ServingMetrics();

    /// Closed, so that it has no threads of its own.
    private final WorkerPool pool = new WorkerPool(1, () -> {}, metrics);

    private final BatchQueue<String, String> queue = new BatchQueue<>(
            "words",
            pool,
            new BatchLimits(1, 1_000, Duration.ZERO, 100, Duration.ZERO),
            now::get,
            metrics.ofModel("words"));
    private final ExecutorService callers = new TestThreads();

    @BeforeEach
    void start() {
        pool.close();
        queue.join(new IdleRunner(0));
    }

    @AfterEach
    void stop() {
        queue.close();
        callers.close();
        metrics.close();
    }

    @Test
    void aRequestThatCannotBeInTimeIsRefusedAtOnce() throws Exception {
        ask("a", "b", "c");
        predictInASecond();

        assertThatThrownBy(() -> queue.requireRoom(now.get() + SECOND))
                .isInstanceOfSatisfying(
                        ServingException.class, e -> assertThat(e.type()).isEqualTo(ErrorType.OVERLOADED))
                .hasMessage(
                        "words is overloaded: its records would wait 1.0 s, and the request's time is over in 1.0 s; try again later");
        assertThatCode(() -> queue.requireRoom(now.get() + 2 * SECOND)).doesNotThrowAnyException();
    }

    @Test
    void aRequestWaitsInTurnAndNotForAllThatALargerOneHas() throws Exception {
        ask("a", "b", "c", "d");
        ask("e");
        predictInASecond();

        assertThatThrownBy(() -> queue.requireRoom(now.get() + 2 * SECOND)).hasMessageContaining("would wait 2.0 s");
        assertThatCode(() -> queue.requireRoom(now.get() + 4 * SECOND)).doesNotThrowAnyException();
    }

    @Test
    void whatARecordTakesAloneIsNoMeasure() throws Exception {
        ask("a");
        predictInASecond();
        ask("b");

        assertThatCode(() -> queue.requireRoom(now.get() + 1)).doesNotThrowAnyException();
    }

    @Test
    void aWaitIsEstimatedByLengthAndNotByRecord() throws Exception {
        ask("l".repeat(400));
        ask("l".repeat(400));
        ask("a", "b", "c");
        predictInASecond();
        predictInASecond();

        assertThatCode(() -> queue.requireRoom(now.get() + SECOND / 50)).doesNotThrowAnyException();
    }

    @Test
    void aQueueThatWasIdleRefusesNobodyForWhatItOnceTook() throws Exception {
        ask("a", "b");
        predictInASecond();
        predictInASecond();
        ask("c");

        assertThatCode(() -> queue.requireRoom(now.get() + 1)).doesNotThrowAnyException();
    }

    /// Records that are predicted in steps stay for as long as their readers take. What counts is
    /// when the next one can begin.
    @Test
    void aStreamThatWouldNotBeginInTimeIsRefusedAtOnce() throws Exception {
        for (int i = 0; i < 8; i++) {
            ask("a");
        }
        begin();
        assertThatCode(() -> queue.requireRoom(now.get() + 1))
                .as("nothing is known yet")
                .doesNotThrowAnyException();
        beginASecondLater();
        beginASecondLater();

        assertThatThrownBy(() -> queue.requireRoom(now.get() + 8 * SECOND))
                .isInstanceOfSatisfying(
                        ServingException.class, e -> assertThat(e.type()).isEqualTo(ErrorType.OVERLOADED))
                .hasMessageContaining("would wait 5.0 s");
        assertThatCode(() -> queue.requireRoom(now.get() + 10 * SECOND)).doesNotThrowAnyException();
    }

    @Test
    void aLineOfStreamsThatDoesNotMoveRefusesMore() throws Exception {
        ask("a");
        begin();
        now.addAndGet(100 * SECOND);
        ask("b");
        ask("c");
        now.addAndGet(5 * SECOND);

        assertThatThrownBy(() -> queue.requireRoom(now.get() + 19 * SECOND)).hasMessageContaining("would wait 10.0 s");
        assertThatCode(() -> queue.requireRoom(now.get() + 20 * SECOND)).doesNotThrowAnyException();
    }

    @Test
    void theTimeWithoutALineIsNoMeasureForStreams() throws Exception {
        ask("a");
        ask("b");
        begin();
        begin();
        now.addAndGet(100 * SECOND);
        ask("c");
        ask("d");
        begin();

        assertThatCode(() -> queue.requireRoom(now.get() + 1)).doesNotThrowAnyException();
    }

    @Test
    void aLineWhoseCallersHaveGoneIsNoMeasureForStreams() throws Exception {
        ask("a");
        var goes = submission("b");
        queue.submit(goes);
        begin();
        queue.abandon(goes);
        now.addAndGet(100 * SECOND);
        ask("c");
        ask("d");
        begin();

        assertThatCode(() -> queue.requireRoom(now.get() + 1)).doesNotThrowAnyException();
    }

    private void begin() {
        assertThat(queue.takeOne(0)).isPresent();
    }

    private void beginASecondLater() {
        now.addAndGet(SECOND);
        begin();
    }

    private void ask(String... words) {
        queue.submit(submission(words));
    }

    private Submission<String, String> submission(String... words) {
        return new Submission<>(
                Serving.pieces(List.of(words)),
                now.get(),
                new PartSink.None<>(DEADLINE),
                new Caller(() -> false, Map.of(), RequestTrace.NONE),
                () -> {});
    }

    private void predictInASecond() throws InterruptedException {
        var batch = queue.take(0).orElseThrow();
        now.addAndGet(SECOND);
        queue.answer(batch, batch.records());
    }
}
