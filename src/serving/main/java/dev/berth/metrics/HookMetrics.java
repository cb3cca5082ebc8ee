package dev.berth.metrics;

import dev.berth.hooks.Metrics;
import java.util.HashMap;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Supplier;
import java.util.regex.Pattern;

/// The instruments that the hooks of a model have made. All its versions share them, and they go with
/// the last one. What hooks count after that is not seen.
///
/// May be used by any thread.
public final class HookMetrics implements Metrics {

    static final int MOST = 100;

    private static final Pattern NAME = Pattern.compile("[a-z][a-z0-9_]{0,59}");

    private final Instruments model;
    // Guarded by the monitor of this.
    private final Map<String, Object> known = new HashMap<>();

    HookMetrics(Instruments model) {
        this.model = model;
    }

    @Override
    public Counter counter(String name, String description) {
        return instrument(Counter.class, name, () -> {
            var counter = model.counter("hooks." + name, description);
            return amount -> {
                if (!(amount >= 0)) {
                    throw new IllegalArgumentException(
                            "counter %s: found %s, expected a number from 0".formatted(name, amount));
                }
                counter.increment(amount);
            };
        });
    }

    @Override
    public Timer timer(String name, String description) {
        return instrument(Timer.class, name, () -> model.timerWithoutBuckets("hooks." + name, description)::record);
    }

    @Override
    public Gauge gauge(String name, String description) {
        return instrument(Gauge.class, name, () -> {
            var value = new AtomicReference<Number>(0.0);
            model.gauge("hooks." + name, description, value::get);
            return value::set;
        });
    }

    private synchronized <T> T instrument(Class<T> kind, String name, Supplier<T> made) {
        if (!NAME.matcher(name).matches()) {
            throw new IllegalArgumentException(
                    "metric \"%s\": expected 1 to 60 lower-case letters, digits and _, a letter first".formatted(name));
        }
        if (known.size() == MOST && !known.containsKey(name)) {
            throw new IllegalArgumentException(
                    "metric %s: found %d others, expected at most %d of a model".formatted(name, MOST, MOST));
        }
        var found = known.computeIfAbsent(name, _ -> made.get());
        if (!kind.isInstance(found)) {
            throw new IllegalArgumentException("metric %s: found one of another kind, expected another name for a %s"
                    .formatted(name, kind.getSimpleName().toLowerCase(Locale.ROOT)));
        }
        return kind.cast(found);
    }
}
