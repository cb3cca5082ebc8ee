package dev.berth.batching;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/// Who waits is woken by what it waits for, and by the timer, whatever becomes of that.
@Timeout(60)
class WaitersTest {

    private static final long LONG = Long.MAX_VALUE / 2;

    private final ConcurrentLinkedQueue<Runnable> later = new ConcurrentLinkedQueue<>();
    private final AtomicBoolean isWithoutMemory = new AtomicBoolean();
    private final AtomicBoolean isDone = new AtomicBoolean();
    private final AtomicInteger looks = new AtomicInteger();

    private final Waiters waiters = new Waiters((_, look) -> {
        if (isWithoutMemory.get()) {
            throw new OutOfMemoryError("on purpose");
        }
        later.add(look);
    });

    @Test
    void whoIsUnparkedGoesOnAndTheTimerStops() throws Exception {
        var thread = waiting();
        await().until(() -> later.size() == 1 && isParked(thread));
        isDone.set(true);
        LockSupport.unpark(thread);
        thread.join();
        assertThat(looks).hasValue(1);
        // Once for who has come since, and then no more.
        later.remove().run();
        later.remove().run();
        assertThat(later).isEmpty();
    }

    @Test
    void theTimerWakesAllAndGoesOnWhileTheyWait() throws Exception {
        awaitTwoWoken();
    }

    private void awaitTwoWoken() throws InterruptedException {
        var one = waiting();
        var two = waiting();
        await().until(() -> later.size() == 1 && isParked(one) && isParked(two));
        later.remove().run();
        await().until(() -> looks.get() == 2 && later.size() == 1 && isParked(one) && isParked(two));
        isDone.set(true);
        later.remove().run();
        one.join();
        two.join();
    }

    @Test
    void whoWaitsAfterTheTimerHasStoppedStartsItAgain() throws Exception {
        awaitTwoWoken();
        while (!later.isEmpty()) {
            later.remove().run();
        }
        isDone.set(false);
        var thread = waiting();
        await().until(() -> later.size() == 1);
        isDone.set(true);
        later.remove().run();
        thread.join();
    }

    @Test
    void withoutMemoryForATimerEachHasItsOwn() throws Exception {
        isWithoutMemory.set(true);
        var thread = waiting();
        await().until(() -> looks.get() > 1);
        isWithoutMemory.set(false);
        await().until(() -> !later.isEmpty());
        isWithoutMemory.set(true);
        later.remove().run();
        isDone.set(true);
        thread.join();
    }

    @Test
    void whatIsDoneBeforeItParksIsNotWaitedFor() {
        isDone.set(true);
        waiters.park(LONG, isDone::get);
    }

    private Thread waiting() {
        return Thread.ofVirtual().start(() -> {
            while (!isDone.get()) {
                waiters.park(LONG, isDone::get);
                looks.incrementAndGet();
            }
        });
    }

    private static boolean isParked(Thread thread) {
        return thread.getState() == Thread.State.WAITING;
    }
}
