package dev.berth.batching;

import static org.assertj.core.api.Assertions.assertThat;

import dev.berth.batching.Submission.Ending;
import dev.berth.batching.Submission.Pending;
import dev.berth.metrics.ServingMetrics;
import dev.berth.telemetry.RequestTrace;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.locks.ReentrantLock;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.Timeout.ThreadMode;

/// The state behind the lock, on one thread, which has it, and with a clock that only the test
/// moves.
@Timeout(value = 60, threadMode = ThreadMode.SAME_THREAD)
class SubmissionsTest {

    private static final long DEADLINE = 100;

    private final ServingMetrics metrics = new ServingMetrics();
    private final ReentrantLock lock = new ReentrantLock();
    private final BatchPolicy policy =
            new BatchPolicy(new BatchLimits(3, 1_000, Duration.ofNanos(50), 100, Duration.ZERO));
    private final Submissions<String, String> requests = new Submissions<>(policy, this::now, metrics.ofModel("words"));
    private long now;

    @BeforeEach
    @Timeout(value = 60, threadMode = ThreadMode.SAME_THREAD)
    void lock() {
        lock.lock();
    }

    @AfterEach
    @Timeout(value = 60, threadMode = ThreadMode.SAME_THREAD)
    void unlock() {
        lock.unlock();
        metrics.close();
    }

    @Test
    void anExpiredRequestIsNeverChosenEvenBeforeItsThreadNoticed() {
        var stale = add(DEADLINE, "a", "b");
        var fresh = add(2 * DEADLINE, "c");
        now = DEADLINE;

        assertThat(choose()).containsExactly("c");
        assertThat(stale.ending()).contains(new Ending.Expired());
        assertThat(fresh.hasEnded()).isFalse();
        assertThat(requests.waiting()).isZero();
    }

    @Test
    void whenAllHaveExpiredNothingWaits() {
        add(DEADLINE, "a");
        now = DEADLINE + 1;
        requests.endExpired();

        assertThat(requests.waiting()).isZero();
    }

    @Test
    void theRoomOfARequestThatEndedAfterItWasChosenIsFilledUp() {
        var gone = add(DEADLINE, "a", "b");
        add(DEADLINE, "c", "d", "e");
        var chosen = new ArrayList<Pending<String, String>>();
        requests.fill(chosen, Integer.MAX_VALUE);
        requests.end(gone, new Ending.Abandoned());
        requests.dropEnded(chosen);
        requests.fill(chosen, Integer.MAX_VALUE);

        assertThat(chosen).extracting(Pending::value).containsExactly("c", "d", "e");
        assertThat(metrics.scrape().lines())
                .contains("berth_abandoned_total{model=\"words\"} 2.0", "berth_queue_depth{model=\"words\"} 0.0");
    }

    @Test
    void theDelayIsThatOfTheOldestRecordsBucket() {
        add(DEADLINE, "a long record of the next bucket");
        now = 10;
        add(DEADLINE, "b", "c", "d");

        assertThat(requests.delayNanos())
                .as("a full bucket behind it does not count")
                .isEqualTo(40);
        now = 50;
        assertThat(requests.delayNanos()).isZero();
    }

    @Test
    void aBatchIsInterruptedOnceWhenTheLastOfItsRequestsHasEnded() {
        var first = add(DEADLINE, "a");
        var second = add(DEADLINE, "b");
        var batch = requests.start(chooseRecords(), 0, Batch.Kind.FIRST);

        requests.end(first, new Ending.Expired());
        assertThat(Thread.currentThread().isInterrupted()).as("one still waits").isFalse();
        requests.end(second, new Ending.Expired());
        assertThat(Thread.interrupted()).as("nobody waits").isTrue();
        requests.end(add(DEADLINE, "c"), new Ending.Expired());
        assertThat(Thread.currentThread().isInterrupted()).as("again").isFalse();
        requests.stop(batch);
    }

    @Test
    void anInterruptEndsWithItsBatch() {
        var request = add(DEADLINE, "a");
        var batch = requests.start(chooseRecords(), 0, Batch.Kind.FIRST);
        requests.end(request, new Ending.Expired());
        requests.stop(batch);

        assertThat(Thread.currentThread().isInterrupted()).isFalse();
    }

    @Test
    void aBatchThatHasStoppedIsNotInterrupted() {
        var request = add(DEADLINE, "a");
        requests.stop(requests.start(chooseRecords(), 0, Batch.Kind.FIRST));
        requests.end(request, new Ending.Expired());

        assertThat(Thread.currentThread().isInterrupted()).isFalse();
    }

    @Test
    void anAnswerAfterTheEndChangesNothing() {
        var request = add(DEADLINE, "a");
        var batch = requests.start(chooseRecords(), 0, Batch.Kind.FIRST);
        requests.end(request, new Ending.Expired());
        requests.stop(batch);
        requests.answer(batch, List.of("A"));

        assertThat(request.ending()).contains(new Ending.Expired());
    }

    @Test
    void aBatchThatTakesHalfOfTheTimeThatARequestHasLeftIsTakenApart() {
        var slow = add(DEADLINE, "slow");
        var quick = add(DEADLINE, "a", "b");
        var batch = requests.start(chooseRecords(), 0, Batch.Kind.FIRST);
        now = DEADLINE / 2 - 1;
        assertThat(quick.isImpatient(now)).isFalse();
        now = DEADLINE / 2;
        assertThat(quick.isImpatient(now)).isTrue();
        requests.takeApart(quick);

        assertThat(Thread.currentThread().isInterrupted())
                .as("the batch is given up")
                .isTrue();
        requests.stop(batch);
        for (var expected : List.of("slow", "a", "b")) {
            var alone = requests.startApart(0);
            assertThat(alone.records()).containsExactly(expected);
            requests.answer(alone, List.of(expected));
            requests.stop(alone);
        }
        assertThat(quick.ending()).contains(new Ending.Answered());
        assertThat(slow.ending()).contains(new Ending.Answered());
        assertThat(requests.hasApart()).isFalse();
    }

    @Test
    void aSlowRecordThatIsTriedAloneMakesWayForTheOthersOfItsBatch() {
        add(DEADLINE, "slow");
        var quick = add(DEADLINE, "a");
        var batch = requests.start(chooseRecords(), 0, Batch.Kind.FIRST);
        now = DEADLINE / 2;
        requests.takeApart(quick);
        requests.stop(batch);
        var slow = requests.startApart(0);
        now = DEADLINE * 3 / 4;
        assertThat(quick.isImpatient(now)).isTrue();
        requests.takeApart(quick);
        assertThat(Thread.currentThread().isInterrupted()).isTrue();
        requests.stop(slow);

        var alone = requests.startApart(0);
        assertThat(alone.records()).containsExactly("a");
        requests.answer(alone, List.of("A"));
        requests.stop(alone);
        assertThat(quick.ending()).contains(new Ending.Answered());
        assertThat(requests.startApart(0).records()).as("and is tried again").containsExactly("slow");
    }

    @Test
    void aBatchThatEndsAfterAllAnswersWhatWaitsToBeTriedAgain() {
        add(DEADLINE, "a");
        var request = add(DEADLINE, "b");
        var batch = requests.start(chooseRecords(), 0, Batch.Kind.FIRST);
        now = DEADLINE / 2;
        requests.takeApart(request);
        requests.answer(batch, List.of("A", "B"));
        requests.stop(batch);

        assertThat(request.ending()).contains(new Ending.Answered());
        assertThat(requests.hasApart()).isFalse();
    }

    @Test
    void aBatchOfOneRequestIsNotTakenApartAndNeitherIsOneThatHasJustBegun() {
        var alone = add(DEADLINE, "a", "b", "c");
        var batch = requests.start(chooseRecords(), 0, Batch.Kind.FIRST);
        add(DEADLINE, "d");
        var late = add(DEADLINE, "e");
        now = DEADLINE / 2;
        var shared = requests.start(chooseRecords(), 0, Batch.Kind.FIRST);
        requests.takeApart(alone);
        requests.takeApart(late);

        assertThat(Thread.currentThread().isInterrupted()).isFalse();
        assertThat(requests.hasApart()).isFalse();
        assertThat(late.isImpatient(DEADLINE * 3 / 4 - 1)).isFalse();
        assertThat(late.isImpatient(DEADLINE * 3 / 4)).isTrue();
        requests.stop(batch);
        requests.stop(shared);
    }

    @Test
    void aBatchIsOverdueWhenItRunsLongAfterTheLastOfItsDeadlines() {
        add(DEADLINE, "a");
        add(2 * DEADLINE, "b");
        var batch = requests.start(chooseRecords(), 0, Batch.Kind.FIRST);
        now = 2 * DEADLINE + 9;
        assertThat(requests.overdue(10)).isEmpty();
        now = 2 * DEADLINE + 10;

        assertThat(requests.overdue(10)).containsExactly(batch);
        requests.stop(batch);
    }

    private Submission<String, String> add(long deadline, String... records) {
        var submission = new Submission<String, String>(
                Serving.pieces(List.of(records)),
                now,
                new PartSink.None<>(deadline),
                new Caller(() -> false, Map.of(), RequestTrace.NONE),
                () -> {});
        requests.add(submission);
        return submission;
    }

    private List<String> choose() {
        return chooseRecords().stream().map(Pending::value).toList();
    }

    private List<Pending<String, String>> chooseRecords() {
        var chosen = new ArrayList<Pending<String, String>>();
        requests.fill(chosen, Integer.MAX_VALUE);
        return chosen;
    }

    private long now() {
        return now;
    }
}
