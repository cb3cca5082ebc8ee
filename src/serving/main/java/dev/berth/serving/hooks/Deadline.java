package dev.berth.serving.hooks;

import java.time.Duration;
import java.util.function.LongSupplier;

/// When a request's time is over. It is fixed when the request arrives, and once more where the
/// request itself leaves less. Whoever waits for something of the request waits no longer. Those
/// that work do not look at it.
///
/// @param nanos as `clock` counts
/// @param clock in nanoseconds, such as [System#nanoTime()]
public record Deadline(long nanos, LongSupplier clock) {

    public static Deadline in(Duration time, LongSupplier clock) {
        return new Deadline(clock.getAsLong() + time.toNanos(), clock);
    }

    /// The time that is left; zero or less when it is over.
    public long nanosLeft() {
        return nanos - clock.getAsLong();
    }

    public boolean isOver() {
        return nanosLeft() <= 0;
    }
}
