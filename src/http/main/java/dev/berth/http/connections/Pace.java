package dev.berth.http.connections;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.LongSupplier;

/// How much of the processors goes into what callers can have the server do without end. Who has
/// done some of it sleeps until it is their turn again, or does without. Used by many threads.
public final class Pace {

    /// What is done without a pause, of each core's time.
    private static final long BURST_NANOS = TimeUnit.MILLISECONDS.toNanos(200);

    /// What a turn may take. What is read at a time takes up to 8 ms: 2,000 frames or chunks.
    private static final long TURN_NANOS = TimeUnit.MICROSECONDS.toNanos(500);

    /// Half of the cores is for those who always have something to be read.
    private static final int SHARE = 2;

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

    /// What one of those who share it has done since it last slept. Used by one thread; any may ask
    /// whether it sleeps.
    final class Turn {

        /// What is counted already, and since when nothing is.
        private long counted;

        private long countedUntil;
        private volatile boolean isPausing;

        void begin() {
            counted = 0;
            countedUntil = clock.getAsLong();
        }

        /// What a turn takes includes the time in which other processes have the core, or the pool
        /// would fill with threads that want to read, and would take none that is new.
        void count(long mostNanos) {
            long now = clock.getAsLong();
            counted += Math.min(now - countedUntil, mostNanos);
            countedUntil = now;
        }

        /// Sleeps where it was long. The system itself is fair to platform threads.
        void end() {
            if (counted > TURN_NANOS && Thread.currentThread().isVirtual()) {
                isPausing = true;
                pause(SHARE * counted);
                isPausing = false;
                begin();
            }
        }

        boolean isPausing() {
            return isPausing;
        }
    }

    Turn turn() {
        return new Turn();
    }
}
