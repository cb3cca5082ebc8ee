package dev.berth.metrics;

import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.DistributionSummary;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.Meter;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Tags;
import io.micrometer.core.instrument.Timer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Function;
import java.util.function.Supplier;
import java.util.stream.Stream;

/// Makes the instruments of a subclass, all with the same labels. A subclass has each in a field,
/// so that an event costs no more than an addition.
abstract class Instruments {

    /// The label of the series, and the field of log lines, that has the model's name.
    public static final String LABEL = "model";

    private static final Duration[] LATENCY_BUCKETS = Stream.of(
                    1, 2, 5, 10, 20, 50, 100, 200, 500, 1_000, 2_000, 5_000, 10_000, 30_000, 60_000)
            .map(Duration::ofMillis)
            .toArray(Duration[]::new);

    private final MeterRegistry registry;
    private final Tags labels;

    // Guarded by the monitor of this: no series is added after they were removed.
    private final List<Meter> series = new ArrayList<>();
    private boolean removed;

    Instruments(MeterRegistry registry, Tags labels) {
        this.registry = registry;
        this.labels = labels;
    }

    /// @param own labels and their values, besides those of all
    final Timer timer(String name, String description, String... own) {
        return added(Timer.builder(name)
                .description(description)
                .serviceLevelObjectives(LATENCY_BUCKETS)
                .tags(labels.and(own))
                .register(registry));
    }

    final Timer timerWithoutBuckets(String name, String description) {
        return added(Timer.builder(name).description(description).tags(labels).register(registry));
    }

    /// One for each value of a label, made when it is first asked for.
    final Function<String, Timer> timers(String name, String description, String label) {
        return each(value -> timer(name, description, label, value));
    }

    /// @param own labels and their values, besides those of all
    final Counter counter(String name, String description, String... own) {
        return added(Counter.builder(name)
                .description(description)
                .tags(labels.and(own))
                .register(registry));
    }

    /// One for each value of a label, made when it is first asked for.
    final Function<String, Counter> counters(String name, String description, String label) {
        return each(value -> counter(name, description, label, value));
    }

    private static <T> Function<String, T> each(Function<String, T> made) {
        var known = new ConcurrentHashMap<String, T>();
        return value -> known.computeIfAbsent(value, made);
    }

    final AtomicInteger gauge(String name, String description) {
        var value = new AtomicInteger();
        gauge(name, description, value::get);
        return value;
    }

    /// @param own labels and their values, besides those of all
    final void gauge(String name, String description, Supplier<Number> value, String... own) {
        added(Gauge.builder(name, value)
                .description(description)
                .tags(labels.and(own))
                .register(registry));
    }

    final DistributionSummary summary(String name, String description, double... buckets) {
        return added(DistributionSummary.builder(name)
                .description(description)
                .serviceLevelObjectives(buckets)
                .tags(labels)
                .register(registry));
    }

    final synchronized <T extends Meter> T added(T meter) {
        if (removed) {
            registry.remove(meter);
        } else {
            series.add(meter);
        }
        return meter;
    }

    final synchronized void remove() {
        removed = true;
        series.forEach(registry::remove);
        series.clear();
    }
}
