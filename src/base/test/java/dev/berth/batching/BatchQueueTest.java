package dev.berth.batching;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.berth.error.ErrorType;
import dev.berth.error.ServingException;
import dev.berth.metrics.ServingMetrics;
import dev.berth.telemetry.RequestTrace;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/// What is let in, with a clock that only the test moves. The test is the only worker.
class BatchQueueTest {

    private static final long SECOND = Duration.ofSeconds(1).toNanos();
    private static final long DEADLINE = 1000 * SECOND;

    private final AtomicLong now = new AtomicLong();
    private final ServingMetrics metrics = new ServingMetrics();

    private BatchQueue<String, String> queue = queue(Duration.ZERO);

    @AfterEach
    void stop() {
        metrics.close();
    }

    @Test
    void aRequestThatCannotBeInTimeIsRefusedAtOnce() throws Exception {
        ask("z", "a", "b", "c");
        predictInASecond();
        predictInASecond();

        assertThatThrownBy(() -> queue.requireRoom(1, now.get() + SECOND))
                .isInstanceOfSatisfying(
                        ServingException.class, e -> assertThat(e.type()).isEqualTo(ErrorType.OVERLOADED))
                .hasMessage(
                        "words is overloaded: its records would wait 1.0 s, and the request's time is over in 1.0 s; try again later");
        assertThatCode(() -> queue.requireRoom(1, now.get() + 2 * SECOND)).doesNotThrowAnyException();
    }

    @Test
    void aRequestWaitsInTurnAndNotForAllThatALargerOneHas() throws Exception {
        ask("a", "b", "c", "d");
        ask("e", "f");
        predictInASecond();
        predictInASecond();

        assertThatThrownBy(() -> queue.requireRoom(1, now.get() + 2 * SECOND)).hasMessageContaining("would wait 2.0 s");
        assertThatCode(() -> queue.requireRoom(1, now.get() + 4 * SECOND)).doesNotThrowAnyException();
    }

    @Test
    void whatARecordTakesAloneIsNoMeasure() throws Exception {
        ask("a");
        predictInASecond();
        ask("b");

        assertThatCode(() -> queue.requireRoom(1, now.get() + 1)).doesNotThrowAnyException();
    }

    @Test
    void aWaitIsEstimatedByLengthAndNotByRecord() throws Exception {
        ask("l".repeat(400));
        ask("l".repeat(400));
        ask("a", "b", "c");
        predictInASecond();
        predictInASecond();

        assertThatCode(() -> queue.requireRoom(1, now.get() + SECOND / 50)).doesNotThrowAnyException();
    }

    @Test
    void aQueueThatWasIdleRefusesNobodyForWhatItOnceTook() throws Exception {
        ask("a", "b");
        predictInASecond();
        predictInASecond();
        ask("c");

        assertThatCode(() -> queue.requireRoom(1, now.get() + 1)).doesNotThrowAnyException();
    }

    /// Records that are predicted in steps stay for as long as their readers take. What counts is
    /// when the next one can begin.
    @Test
    void aStreamThatWouldNotBeginInTimeIsRefusedAtOnce() throws Exception {
        queue.predictInSteps();
        for (int i = 0; i < 8; i++) {
            ask("a");
        }
        begin();
        assertThatCode(() -> queue.requireRoom(1, now.get() + 1))
                .as("nothing is known yet")
                .doesNotThrowAnyException();
        beginASecondLater();
        beginASecondLater();

        assertThatThrownBy(() -> queue.requireRoom(1, now.get() + 8 * SECOND))
                .isInstanceOfSatisfying(
                        ServingException.class, e -> assertThat(e.type()).isEqualTo(ErrorType.OVERLOADED))
                .hasMessageContaining("would wait 5.0 s");
        assertThatCode(() -> queue.requireRoom(1, now.get() + 10 * SECOND)).doesNotThrowAnyException();
    }

    @Test
    void aLineOfStreamsThatDoesNotMoveRefusesMore() throws Exception {
        queue.predictInSteps();
        ask("a");
        begin();
        now.addAndGet(100 * SECOND);
        ask("b");
        ask("c");
        now.addAndGet(5 * SECOND);

        assertThatThrownBy(() -> queue.requireRoom(1, now.get() + 19 * SECOND))
                .hasMessageContaining("would wait 10.0 s");
        assertThatCode(() -> queue.requireRoom(1, now.get() + 20 * SECOND)).doesNotThrowAnyException();
    }

    @Test
    void theTimeWithoutALineIsNoMeasureForStreams() throws Exception {
        queue.predictInSteps();
        ask("a");
        ask("b");
        begin();
        begin();
        now.addAndGet(100 * SECOND);
        ask("c");
        ask("d");
        begin();

        assertThatCode(() -> queue.requireRoom(1, now.get() + 1)).doesNotThrowAnyException();
    }

    @Test
    void aLineWhoseCallersHaveGoneIsNoMeasureForStreams() throws Exception {
        queue.predictInSteps();
        ask("a");
        var goes = ask("b");
        begin();
        goes.abandon();
        now.addAndGet(100 * SECOND);
        ask("c");
        ask("d");
        begin();

        assertThatCode(() -> queue.requireRoom(1, now.get() + 1)).doesNotThrowAnyException();
    }

    @Test
    void whoLeavesInTheMidstOfAnAnswerIsNoReasonToServeTheNewest() throws Exception {
        queue = queue(Duration.ofNanos(100));
        queue.predictInSteps();
        for (int i = 0; i < 3; i++) {
            var stream = ask("stream");
            begin();
            stream.abandon();
        }
        ask("a");
        now.set(101);
        ask("b");

        assertThat(queue.take(1)).extracting(piece -> piece.value).containsExactly("a");
    }

    private void begin() {
        assertThat(queue.take(1)).hasSize(1);
    }

    private void beginASecondLater() {
        now.addAndGet(SECOND);
        begin();
    }

    private Submission<String, String> ask(String... words) {
        var request = new Submission<>(
                queue,
                Serving.pieces(List.of(words)),
                Serving.parts(words.length, DEADLINE),
                new Caller(() -> false, Map.of(), RequestTrace.NONE),
                now.get());
        queue.submit(request);
        return request;
    }

    private void predictInASecond() {
        var pieces = queue.take(1);
        now.addAndGet(SECOND);
        queue.locked(() -> pieces.forEach(queue::answer));
    }

    private BatchQueue<String, String> queue(Duration targetDelay) {
        var limits = new BatchLimits(1, 1_000, Duration.ZERO, 100, targetDelay);
        var queue = new BatchQueue<String, String>("the model", () -> {}, limits, now::get, metrics.ofModel("words"));
        queue.countWorkers(1, "");
        return queue;
    }
}
