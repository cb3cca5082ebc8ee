package dev.berth.batching;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.berth.metrics.ServingMetrics;
import dev.berth.telemetry.RequestTrace;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/// Whose turn it is when requests stand in line, with a clock that only the test moves. The test's
/// thread is the only worker, and takes one piece at a time.
@Timeout(600)
class TurnsTest {

    private static final long DEADLINE = 1_000_000_000;
    private static final int TARGET = 100;

    private final AtomicLong now = new AtomicLong();
    private final ServingMetrics metrics = new ServingMetrics();
    private BatchQueue<String, String> queue = queue(1, TARGET, 1_000);

    @AfterEach
    void stop() {
        metrics.close();
    }

    @Test
    void theFirstIsServedAsLongAsNobodyHasWaitedForTooLong() throws Exception {
        ask("a");
        ask("b");
        now.set(TARGET);

        assertThat(take()).containsExactly("a");
        assertThat(take()).containsExactly("b");
    }

    @Test
    void theNewestIsServedWhileSomebodyHasWaitedForTooLongAndOthersLeave() throws Exception {
        leave(3);
        ask("a");
        now.set(50);
        ask("b");
        ask("c");
        now.set(TARGET + 1);
        ask("d");

        assertThat(take()).containsExactly("d");
        assertThat(take()).containsExactly("c");
        ask("e");
        assertThat(take()).containsExactly("e");
        assertThat(take()).containsExactly("b");
        ask("f");
        assertThat(take()).containsExactly("f");
        assertThat(take()).containsExactly("a");
        now.addAndGet(TARGET);
        ask("g");
        ask("h");
        assertThat(take()).as("those that stood in line are gone").containsExactly("g");
    }

    @Test
    void clientsThatAskAgainAtOnceAreServedInTurnThoughTheyWaitForTooLong() throws Exception {
        for (int i = 0; i < 16; i++) {
            ask("client" + i);
        }
        now.set(TARGET + 1);

        for (int i = 0; i < 64; i++) {
            now.addAndGet(TARGET);
            var served = "client" + i % 16;
            assertThat(take()).containsExactly(served);
            ask(served);
        }
    }

    @Test
    void theFirstIsServedAgainWhenOthersLeaveNoMore() throws Exception {
        leave(4);
        ask("first");
        now.set(TARGET + 1);

        int before = 0;
        do {
            ask("client");
            before++;
        } while (take().equals(List.of("client")));
        assertThat(before).isBetween(2, 32);
    }

    @Test
    void oneWhoLeavesIsNoReasonToServeTheNewest() throws Exception {
        leave(1);
        ask("a");
        now.set(TARGET + 1);
        ask("b");

        assertThat(take()).containsExactly("a");
    }

    @Test
    void whoIsTurnedAwayIsAReasonToServeTheNewest() throws Exception {
        askTwoAndRefuseThree(Duration.ofSeconds(5));

        assertThat(take()).containsExactly("b");
    }

    /// All that are let in with so little time have their answer in half of it.
    @Test
    void whoHasLittleTimeAndIsTurnedAwayIsNoReasonToServeTheNewest() throws Exception {
        askTwoAndRefuseThree(Duration.ofSeconds(4));

        assertThat(take()).containsExactly("a");
    }

    private void askTwoAndRefuseThree(Duration left) throws Exception {
        queue = queue(1, TARGET, 2);
        ask("a");
        now.set(TARGET + 1);
        ask("b");
        for (int i = 0; i < 3; i++) {
            assertThatThrownBy(() -> queue.requireRoom(1, now.get() + left.toNanos()))
                    .hasMessageContaining("overloaded");
        }
    }

    @Test
    void withoutATargetTheFirstIsServedHoweverLongItHasWaited() throws Exception {
        queue = queue(1, 0, 1_000);
        leave(3);
        ask("a");
        now.set(DEADLINE - 1);
        ask("b");

        assertThat(take()).containsExactly("a");
    }

    @Test
    void workThatHasBegunIsFinishedMeanwhile() throws Exception {
        leave(32);
        ask("a1", "a2", "a3");
        assertThat(take()).containsExactly("a1");
        for (int i = 0; i < 9; i++) {
            ask("old" + i);
        }
        now.set(TARGET + 1);
        for (int i = 0; i < 7; i++) {
            ask("new" + i);
        }

        assertThat(take(8)).containsExactly("new6", "new5", "new4", "a2", "new3", "new2", "new1", "a3");
        assertThat(take(3)).containsExactly("new0", "old8", "old7");
    }

    @Test
    void aRequestThatHasBegunIsNoReasonToServeTheNewest() throws Exception {
        leave(3);
        ask("a1", "a2", "a3");
        assertThat(take()).containsExactly("a1");
        now.set(TARGET + 1);
        ask("b");
        ask("c");

        assertThat(take()).containsExactly("b");
    }

    @Test
    void aBatchIsFilledWithTheNewest() throws Exception {
        queue = queue(3, TARGET, 1_000);
        leave(3);
        for (var word : List.of("a", "b", "c", "d")) {
            ask(word);
        }
        now.set(TARGET + 1);

        assertThat(take()).containsExactly("d", "c", "b");
    }

    /// Nobody comes to the first ones while the newest is served first, or to any in a full queue.
    @Test
    void callersWhoHaveGoneKeepNoPlaceOnceTheyAreAsked() throws Exception {
        queue = queue(1, TARGET, 2);
        var gone = new AtomicBoolean();
        ask("a");
        var leaves = ask(gone::get, "b", "c");
        leaves.ask();
        assertThatThrownBy(() -> ask("d")).hasMessageContaining("found 2 requests waiting, expected fewer than 2");
        gone.set(true);
        leaves.ask();
        ask("d", "e");

        assertThat(take(3)).containsExactly("a", "d", "e");
        assertThat(metrics.scrape().lines())
                .contains("berth_abandoned_total{model=\"words\"} 2.0", "berth_queue_depth{model=\"words\"} 0.0");
    }

    @Test
    void piecesAreOneRequestToTheQueueAndOneRecordToAllCounts() throws Exception {
        queue = queue(1, TARGET, 2);
        submit(
                () -> false,
                new Pieces<>(
                        List.of("a1", "a2", "a3", "a4", "b", "c1", "c2"),
                        new int[] {2, 2, 2, 2, 1, 2, 2},
                        new int[] {4, 1, 2}));
        assertThat(queue.size()).isEqualTo(1);
        assertThat(take(4)).containsExactly("a1", "a2", "a3", "a4");
        ask("d");
        assertThatThrownBy(() -> ask("e")).hasMessageContaining("found 2 requests waiting, expected fewer than 2");
        assertThat(metrics.scrape().lines())
                .contains(
                        "berth_records_total{model=\"words\"} 4.0",
                        "berth_queue_depth{model=\"words\"} 2.0",
                        "berth_queue_wait_seconds_count{model=\"words\"} 1");

        assertThat(take(4)).containsExactly("d", "b", "c1", "c2");
        assertThat(metrics.scrape().lines())
                .contains(
                        "berth_queue_depth{model=\"words\"} 0.0", "berth_queue_wait_seconds_count{model=\"words\"} 4");
    }

    @Test
    void aRequestOfManyPiecesHoldsUpNoOthers() throws Exception {
        for (int i = 0; i < 2; i++) {
            submit(
                    () -> false,
                    new Pieces<>(Arrays.asList("a", "a", "a", "a", "a", "a", "a", "a"), new int[8], new int[] {8}));
        }
        take(5);
        ask("b");

        assertThat(take()).containsExactly("b");
    }

    @Test
    void aRecordOfWhichSomePiecesAreLeftIsDroppedOnce() throws Exception {
        queue = queue(2, TARGET, 10);
        var gone = new AtomicBoolean();
        submit(
                () -> gone.getAndSet(true),
                new Pieces<>(List.of("a1", "a2", "a3", "b1", "b2"), new int[5], new int[] {3, 2}));
        assertThat(take()).containsExactly("a1", "a2");
        ask("c");

        assertThat(take()).containsExactly("c");
        assertThat(metrics.scrape().lines())
                .contains("berth_abandoned_total{model=\"words\"} 2.0", "berth_queue_depth{model=\"words\"} 0.0");
    }

    @Test
    void aBatchLooksAtNoMoreRequestsThanItHasRoomFor() throws Exception {
        queue = queue(4, TARGET, 1_000);
        var looks = new AtomicInteger();
        var sink = new PartSink<String>() {
            @Override
            public void take(int index, String part) {}

            @Override
            public long deadlineNanos() {
                looks.incrementAndGet();
                return DEADLINE;
            }
        };
        for (int i = 0; i < 100; i++) {
            submit(() -> false, Serving.pieces(List.of("a")), sink);
        }
        looks.set(0);

        assertThat(take()).hasSize(4);
        assertThat(looks).hasValueLessThan(10);
    }

    @Test
    void theRecordWhoseTurnItIsChoosesTheBucketAndOthersOfItsBucketComeAlong() throws Exception {
        var longWord = "w".repeat(20);
        queue = queue(4, 0, 10);
        ask("a", longWord);
        ask("b");
        ask(longWord + "x");
        assertThat(take()).containsExactly("a", "b");
        assertThat(take()).containsExactly(longWord + "x", longWord);
    }

    @Test
    void aBatchStaysWithinItsPaddedCostAndARecordBeyondItIsServedAlone() throws Exception {
        var beyond = "w".repeat(31);
        queue = queue(new BatchLimits(4, 30, Duration.ZERO, 6, Duration.ZERO));
        ask("w".repeat(10), "w".repeat(15), "w");
        ask(beyond, beyond);
        assertThat(take()).containsExactly("w".repeat(10), "w".repeat(15));
        assertThat(take(3)).containsExactly(beyond, "w", beyond);
    }

    private BatchQueue<String, String> queue(int size, int target, int capacity) {
        return queue(new BatchLimits(size, 1_000, Duration.ZERO, capacity, Duration.ofNanos(target)));
    }

    private BatchQueue<String, String> queue(BatchLimits limits) {
        var queue = new BatchQueue<String, String>("the model", () -> {}, limits, now::get, metrics.ofModel("words"));
        queue.countWorkers(1, "");
        return queue;
    }

    private Submission<String, String> ask(String... words) {
        return ask(() -> false, words);
    }

    private Submission<String, String> ask(BooleanSupplier hasGone, String... words) {
        return submit(hasGone, Serving.pieces(List.of(words)));
    }

    private Submission<String, String> submit(BooleanSupplier hasGone, Pieces<String> pieces) {
        return submit(hasGone, pieces, Serving.parts(pieces.values().size(), DEADLINE));
    }

    private Submission<String, String> submit(BooleanSupplier hasGone, Pieces<String> pieces, PartSink<String> sink) {
        var caller = new Caller(hasGone, Map.of(), RequestTrace.NONE);
        var request = new Submission<>(queue, pieces, sink, caller, now.get());
        queue.submit(request);
        return request;
    }

    /// So many callers give up before they have an answer.
    private void leave(int callers) {
        for (int i = 0; i < callers; i++) {
            ask("impatient").abandon();
        }
    }

    /// Predicts a batch.
    private List<String> take() {
        var pieces = queue.take(queue.limits.maxBatchSize());
        pieces.forEach(queue::answer);
        return pieces.stream().map(piece -> piece.value).toList();
    }

    private List<String> take(int batches) {
        var all = new ArrayList<String>();
        for (int i = 0; i < batches; i++) {
            all.addAll(take());
        }
        return all;
    }
}
