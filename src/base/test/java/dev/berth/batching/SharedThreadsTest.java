package dev.berth.batching;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

class SharedThreadsTest {

    @Test
    void aTaskThatHangsLeavesItsPlaceAlsoWhereThereWasNoMemoryForAThreadAtFirst() throws Exception {
        var made = new AtomicInteger();
        var threads = new SharedThreads(1, Duration.ofMillis(10), task -> {
            if (made.incrementAndGet() == 2) {
                throw new OutOfMemoryError("unable to create native thread");
            }
            return Thread.ofPlatform().daemon().unstarted(task);
        });
        var end = new CountDownLatch(1);
        for (int i = 0; i < 2; i++) {
            var ran = new CountDownLatch(1);
            threads.execute(_ -> await(end));
            threads.execute(_ -> ran.countDown());
            assertThat(ran.await(1, TimeUnit.MINUTES)).isTrue();
        }
        assertThat(made.get()).isGreaterThan(2);
        end.countDown();
    }

    private static void await(CountDownLatch latch) {
        try {
            latch.await();
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }
}
