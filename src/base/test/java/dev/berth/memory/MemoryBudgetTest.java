package dev.berth.memory;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.berth.testing.TestThreads;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;

class MemoryBudgetTest {

    private static final long LATER = 1_000_000_000_000L;

    private final AtomicLong clock = new AtomicLong(-5);
    private final MemoryBudget budget = new MemoryBudget(100, clock::get);

    @AutoClose
    private final ExecutorService threads = new TestThreads();

    /// Has a thread of its own do what must wait, and comes back when it waits.
    private <T> Future<T> waiting(Callable<T> action) {
        int before = budget.waiting();
        var result = threads.submit(action);
        await().until(() -> budget.waiting() == before + 1);
        return result;
    }

    private void assertFree(long bytes) {
        try (var _ = budget.tryTake(bytes).orElseThrow()) {
            assertThat(budget.tryTake(1)).isEmpty();
        }
    }

    @Test
    void sharesNeverHoldMoreThanThereIs() {
        var other = budget.tryTake(10).orElseThrow();
        var share = budget.tryTake(60).orElseThrow();
        assertFree(30);
        assertThat(share.tryGrowTo(91)).isFalse();
        assertThat(share.tryGrowTo(80)).isTrue();
        assertThat(share.tryGrowTo(20)).isTrue();
        assertFree(10);
        share.shrinkTo(30);
        share.shrinkTo(50);
        assertFree(60);
        share.close();
        other.close();
        assertFree(100);
    }

    @Test
    void aShareLargerThanTheBudgetWaitsToBeAlone() throws Exception {
        var small = budget.take(1);
        var large = waiting(() -> budget.take(Long.MAX_VALUE));
        small.close();
        try (var _ = large.get()) {
            assertThat(budget.tryTake(1)).isEmpty();
        }
        budget.tryTake(Long.MAX_VALUE).orElseThrow().close();
    }

    // Others get in between more often.
    @SuppressWarnings("ThreadPriorityCheck")
    @Test
    void thoseThatHaveNoRoomBesideEachOtherComeOneAfterAnother() throws Exception {
        var inside = new AtomicInteger();
        var all = IntStream.range(0, 50)
                .mapToObj(i -> threads.submit(() -> {
                    try (var _ = budget.take(i % 2 == 0 ? 51 : 5_000_000_000L)) {
                        assertThat(inside.incrementAndGet()).isEqualTo(1);
                        Thread.yield();
                        return inside.decrementAndGet();
                    }
                }))
                .toList();
        for (var each : all) {
            assertThat(each.get()).isZero();
        }
    }

    @Test
    void thoseThatWaitAreServedInOrderAndWhoDoesNotWaitMayOvertake() throws Exception {
        var held = budget.take(60);
        var large = waiting(() -> budget.take(90));
        var small = waiting(() -> budget.take(30));
        budget.tryTake(40).orElseThrow().close();
        held.close();
        var first = large.get();
        assertThat(small.isDone()).isFalse();
        first.close();
        small.get().close();
    }

    @Test
    void whoeverWaitsBehindAnotherModelIsNotRefusedBeforeItsTurn() throws Exception {
        var held = budget.take(100);
        var first = ofModel("a");
        var other = ofModel("b");
        var last = ofModel("a");
        var begun = waiting(() -> first.growTo(40, LATER));
        var large = waiting(() -> other.growTo(100, LATER));
        var small = waiting(() -> last.growTo(40, LATER));
        held.close();
        assertThat(begun.get()).isTrue();
        first.close();
        assertThat(large.get()).isTrue();
        other.close();
        assertThat(small.get()).isTrue();
    }

    private MemoryBudget.Share ofModel(String model) {
        var share = budget.share();
        share.countFor(model);
        return share;
    }

    @Test
    void aShareGrowsBeforeOthersBegin() throws Exception {
        var share = budget.take(60);
        var other = budget.take(30);
        var all = waiting(() -> budget.take(100));
        var grown = waiting(() -> share.growTo(90, LATER));
        other.close();
        assertThat(grown.get()).isTrue();
        assertFree(10);
        assertThat(share.growTo(90, LATER)).isTrue();
        share.close();
        all.get().close();
    }

    @Test
    void sharesThatGrowWaitInTurnUnlessTheyWouldBlockEachOther() throws Exception {
        var first = budget.take(30);
        var second = budget.take(20);
        var other = budget.take(50);
        var grown = waiting(() -> first.growTo(80, LATER));
        // 20 and 80 leave room for either, when the other waits.
        var next = waiting(() -> second.growTo(70, LATER));
        // With 50 more that wait, there would never be 80.
        assertThat(other.growTo(51, LATER)).isFalse();
        assertThat(budget.waiting()).isEqualTo(2);
        other.close();
        assertThat(grown.get()).isTrue();
        assertThat(next.isDone()).isFalse();
        first.close();
        assertThat(next.get()).isTrue();
    }

    @Test
    void afterTheDeadlineNothingIsTaken() throws Exception {
        var share = budget.take(60);
        assertThat(budget.share().growTo(41, -5)).isFalse();
        assertThat(budget.share().growTo(30, -6)).isTrue();
        assertThat(share.growTo(71, -5)).isFalse();
        assertThat(share.growTo(70, -6)).isTrue();
    }

    @Test
    void whoseDeadlinePassesWhileItWaitsMakesRoomForTheNext() throws Exception {
        var held = budget.take(60);
        var share = budget.take(10);
        var large = waiting(() -> budget.share().growTo(90, LATER));
        var small = waiting(() -> budget.share().growTo(50, 2 * LATER));
        clock.set(LATER);
        held.shrinkTo(50);
        assertThat(large.get()).isFalse();
        share.close();
        assertThat(small.get()).isTrue();
    }

    @Test
    void aShareMayBeClosedByAnotherThreadWhileItWaitsToGrow() throws Exception {
        var held = budget.take(60);
        var share = budget.take(10);
        var grown = waiting(() -> share.growTo(50, LATER));
        share.close();
        assertThat(grown.get()).isFalse();
        assertFree(40);
        share.close();
        assertThat(share.tryGrowTo(1)).isFalse();
        assertThat(share.growTo(1, LATER)).isFalse();
        held.close();
        assertFree(100);
    }

    @Test
    void whoIsInterruptedTakesNothing() throws Exception {
        var held = budget.take(60);
        var waiting = waiting(() -> budget.take(50));
        waiting.cancel(true);
        await().until(() -> budget.waiting() == 0);
        held.close();
        assertFree(100);
    }
}
