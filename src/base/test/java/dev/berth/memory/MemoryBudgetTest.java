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
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class MemoryBudgetTest {

    private static final long LATER = 1_000_000_000_000L;
    private static final long KIB = 1 << 10;

    private final AtomicLong clock = new AtomicLong(-5);
    private final MemoryBudget budget = new MemoryBudget(100 * KIB, clock::get);
    private final ExecutorService threads = new TestThreads();

    @AfterEach
    void stop() {
        threads.close();
    }

    /// Has a thread of its own do what must wait, and comes back when it waits.
    private <T> Future<T> waiting(Callable<T> action) {
        int before = budget.waiting();
        var result = threads.submit(action);
        await().until(() -> budget.waiting() == before + 1);
        return result;
    }

    private MemoryBudget.Share take(long kib) throws InterruptedException {
        return budget.take(kib * KIB);
    }

    private void assertFree(long kib) {
        try (var _ = budget.tryTake(kib * KIB).orElseThrow()) {
            assertThat(budget.tryTake(1)).isEmpty();
        }
    }

    @Test
    void sharesNeverHoldMoreThanThereIs() throws Exception {
        var other = take(10);
        var share = take(60);
        assertFree(30);
        assertThat(share.tryGrowTo(91 * KIB)).isFalse();
        assertThat(share.tryGrowTo(80 * KIB)).isTrue();
        assertThat(share.tryGrowTo(20 * KIB)).isTrue();
        assertFree(10);
        share.shrinkTo(30 * KIB);
        share.shrinkTo(50 * KIB);
        assertFree(60);
        share.close();
        other.close();
        assertFree(100);
    }

    // Others get in between more often.
    @SuppressWarnings("ThreadPriorityCheck")
    @Test
    void thoseThatHaveNoRoomBesideEachOtherComeOneAfterAnother() throws Exception {
        var inside = new AtomicInteger();
        var all = IntStream.range(0, 50)
                .mapToObj(i -> threads.submit(() -> {
                    try (var _ = budget.take(i % 2 == 0 ? 51 * KIB : Long.MAX_VALUE)) {
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
        var held = take(60);
        var large = waiting(() -> take(90));
        var small = waiting(() -> take(30));
        budget.tryTake(40 * KIB).orElseThrow().close();
        held.close();
        var first = large.get();
        assertThat(small.isDone()).isFalse();
        first.close();
        small.get().close();
    }

    @Test
    void aShareThatHoldsSomethingDoesNotWaitForMore() throws Exception {
        try (var share = take(60);
                var _ = take(30)) {
            assertThat(share.growTo(71 * KIB, LATER)).isFalse();
            assertThat(share.growTo(70 * KIB, LATER)).isTrue();
        }
    }

    @Test
    void sharesOfOneModelHoldNoMoreThanHalfAndWaitBehindThoseOfAnother() throws Exception {
        var held = take(100);
        var first = ofModel("a");
        var other = ofModel("b");
        var last = ofModel("a");
        var begun = waiting(() -> first.growTo(40 * KIB, LATER));
        var large = waiting(() -> other.growTo(100 * KIB, LATER));
        var small = waiting(() -> last.growTo(40 * KIB, LATER));
        held.close();
        assertThat(begun.get()).isTrue();
        assertThat(ofModel("a").growTo(20 * KIB, LATER)).isFalse();
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
    void afterTheDeadlineNothingIsAwaited() throws Exception {
        try (var _ = take(60)) {
            assertThat(budget.share().growTo(41 * KIB, -6)).isFalse();
            assertThat(budget.share().growTo(40 * KIB, -6)).isTrue();
        }
    }

    @Test
    void aShareMayBeClosedByAnotherThreadWhileItWaits() throws Exception {
        var held = take(60);
        var share = budget.share();
        var grown = waiting(() -> share.growTo(50 * KIB, LATER));
        share.close();
        held.close();
        assertThat(grown.get()).isFalse();
        assertThat(share.tryGrowTo(1)).isFalse();
        assertThat(share.growTo(1, LATER)).isFalse();
        assertFree(100);
    }

    @Test
    void whoIsInterruptedTakesNothing() throws Exception {
        var held = take(60);
        var waiting = waiting(() -> take(50));
        waiting.cancel(true);
        await().until(() -> budget.waiting() == 0);
        held.close();
        assertFree(100);
    }
}
