package dev.berth.transform;

import java.time.Duration;
import java.util.concurrent.atomic.AtomicInteger;

/// How many records a request has at most. Where the job leaves that open, a request has as many as
/// are answered in about a second: progress is seen, and a job that is stopped keeps what was
/// answered. Used by any threads.
final class MiniBatchSize {

    private static final int FIRST = 8;
    private static final long QUICK_NANOS = Duration.ofMillis(500).toNanos();
    private static final long SLOW_NANOS = Duration.ofSeconds(2).toNanos();

    private final boolean isFree;
    private final AtomicInteger most;

    /// @param isFree whether it chooses; otherwise as many records as fit
    MiniBatchSize(boolean isFree) {
        this.isFree = isFree;
        this.most = new AtomicInteger(isFree ? FIRST : Integer.MAX_VALUE);
    }

    int mostRecords() {
        return most.get();
    }

    /// Takes into account how long a request took. One that was formed before the last change counts
    /// for little.
    void answered(int records, long nanos) {
        if (isFree && nanos > SLOW_NANOS) {
            most.accumulateAndGet(Math.max(1, records / 2), Math::min);
        } else if (isFree && nanos < QUICK_NANOS) {
            // Only one with as many records as it may have shows that it may have more.
            most.compareAndSet(records, 2 * records);
        }
    }
}
