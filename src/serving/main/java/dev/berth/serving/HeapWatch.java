package dev.berth.serving;

import dev.berth.metrics.ServingMetrics;
import java.lang.management.GarbageCollectorMXBean;
import java.lang.management.ManagementFactory;
import java.time.Duration;
import java.util.Optional;
import java.util.function.LongSupplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// Whether the JVM has enough memory to go on.
///
/// It has not once it has thrown an [OutOfMemoryError]: any thread may have been in the midst of
/// anything. That stays so until the process is replaced. It has not while collections take more
/// than half of the time over 10 s, either. That ends when they take less than a quarter.
final class HeapWatch {

    private static final long WINDOW_NANOS = Duration.ofSeconds(10).toNanos();
    private static final double TOO_MUCH = 0.5;
    private static final double LITTLE_AGAIN = 0.25;

    private static final Logger log = LoggerFactory.getLogger(HeapWatch.class);

    private final ServingMetrics metrics;
    private final LongSupplier clock;
    private final LongSupplier collectionMillis;

    /// When the window began, and how long collections had stopped the JVM by then.
    private long since;

    private long collectedBefore;
    private boolean saidOutOfMemory;
    private volatile boolean collectsTooMuch;

    HeapWatch(ServingMetrics metrics) {
        this(metrics, System::nanoTime, pauses());
    }

    /// @param collectionMillis how long collections have stopped the JVM since it started
    HeapWatch(ServingMetrics metrics, LongSupplier clock, LongSupplier collectionMillis) {
        this.metrics = metrics;
        this.clock = clock;
        this.collectionMillis = collectionMillis;
        this.since = clock.getAsLong();
        this.collectedBefore = collectionMillis.getAsLong();
    }

    /// Why the process should be replaced; nothing where all is well.
    Optional<String> problem() {
        var outOfMemory = metrics.outOfMemory();
        if (outOfMemory.isPresent()) {
            return Optional.of("the JVM ran out of memory: " + outOfMemory.get());
        }
        return collectsTooMuch
                ? Optional.of("the JVM spends most of its time on collecting garbage")
                : Optional.empty();
    }

    /// Judges each window when it is over, and says once what has changed. Called about twice a second by
    /// one thread.
    void look() {
        var outOfMemory = metrics.outOfMemory();
        if (outOfMemory.isPresent() && !saidOutOfMemory) {
            saidOutOfMemory = true;
            log.error("the JVM ran out of memory: {}; /ping is 503 until the process is replaced", outOfMemory.get());
        }
        long now = clock.getAsLong();
        if (now - since >= WINDOW_NANOS) {
            long collected = collectionMillis.getAsLong();
            judge((collected - collectedBefore) * 1e6 / (now - since));
            since = now;
            collectedBefore = collected;
        }
    }

    /// @param share of the window
    private void judge(double share) {
        if (!collectsTooMuch && share > TOO_MUCH) {
            collectsTooMuch = true;
            log.error(
                    "collecting garbage has taken {} % of the last 10 s; /ping is 503 until it takes less than {} %",
                    Math.round(share * 100), Math.round(LITTLE_AGAIN * 100));
        } else if (collectsTooMuch && share < LITTLE_AGAIN) {
            collectsTooMuch = false;
            log.warn(
                    "collecting garbage takes {} % of the time again; /ping no longer is 503 because of it",
                    Math.round(share * 100));
        }
    }

    /// Of G1, ZGC and Shenandoah some beans count work that goes on beside the program, and not its
    /// pauses.
    private static LongSupplier pauses() {
        var beans = ManagementFactory.getGarbageCollectorMXBeans().stream()
                .filter(bean -> !bean.getName().contains("Concurrent")
                        && !bean.getName().endsWith("Cycles"))
                .toList();
        return () -> beans.stream()
                .mapToLong(GarbageCollectorMXBean::getCollectionTime)
                .sum();
    }
}
