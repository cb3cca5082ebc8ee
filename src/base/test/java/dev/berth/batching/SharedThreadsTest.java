package dev.berth.batching;

import static org.junit.jupiter.api.Assertions.assertTrue;

import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

/// Threads that models share.
class SharedThreadsTest {

    /// One that could not be made must not end the patience with all hooks that hang later.
    @Test
    void taskThatHangsLeavesItsPlaceAfterThereWasNoMemoryForAThread() throws Exception {
        var made = new AtomicInteger();
        var threads = new SharedThreads(1, Duration.ofMillis(10), task -> {
            if (made.incrementAndGet() == 2) {
                throw new OutOfMemoryError("unable to create native thread");
            }
            return Thread.ofPlatform().daemon().unstarted(task);
        });
        var hangs = new CountDownLatch(1);
        var others = new CountDownLatch(2);

        threads.execute(_ -> await(hangs));
        threads.execute(_ -> others.countDown());
        while (made.get() < 2) {
            Thread.sleep(1);
        }
        Thread.sleep(50);
        threads.execute(_ -> others.countDown());

        assertTrue(others.await(5, TimeUnit.SECONDS));
        var again = new CountDownLatch(1);
        threads.execute(_ -> await(hangs));
        threads.execute(_ -> again.countDown());
        assertTrue(again.await(5, TimeUnit.SECONDS));
        hangs.countDown();
    }

    private static void await(CountDownLatch latch) {
        try {
            latch.await();
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }
}
