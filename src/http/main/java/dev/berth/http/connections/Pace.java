package dev.berth.http.connections;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.LongSupplier;

/// How much of the processors goes into what callers can have the server do without end. Who has
/// done some of it sleeps until it is their turn again, or does without. Used by many threads.
public final class Pace {

    /// What is done without a pause, of each core's time.
    private static final long BURST_NANOS = TimeUnit.MILLISECONDS.toNanos(200);

    private final int cores;
    private final long longestNanos;
    private final LongSupplier clock;

    /// When the next turn is due.
    private long next;

    /// @param longestNanos of a pause
    public Pace(long longestNanos) {
        this(Runtime.getRuntime().availableProcessors(), longestNanos, System::nanoTime);
    }

    /// @param clock in nanoseconds
    Pace(int cores, long longestNanos, LongSupplier clock) {
        this.cores = cores;
        this.longestNanos = longestNanos;
        this.clock = clock;
        this.next = clock.getAsLong() - BURST_NANOS / cores;
    }

    /// @param nanos of a core's time that may pass for what was done
    public void pause(long nanos) {
        long pause = pauseNanos(nanos);
        if (pause > 0) {
            LockSupport.parkNanos(pause);
        }
    }

    /// Whether it may be done at once, which counts.
    ///
    /// @param nanos of a core's time that it takes
    public synchronized boolean isTurn(long nanos) {
        boolean isTurn = next - clock.getAsLong() <= 0;
        if (isTurn) {
            pauseNanos(nanos);
        }
        return isTurn;
    }

    synchronized long pauseNanos(long nanos) {
        long now = clock.getAsLong();
        next = Math.clamp(next + nanos / cores, now - BURST_NANOS / cores, now + longestNanos);
        return Math.max(0, next - now);
    }
}
