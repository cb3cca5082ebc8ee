package dev.berth.serving.hooks;

import dev.berth.hooks.Metrics;
import dev.berth.metrics.ModelMetrics;
import java.util.HashMap;
import java.util.Map;
import java.util.function.DoubleConsumer;
import java.util.regex.Pattern;

/// The instruments that the hooks of one version of a model have made. When it is unloaded they go,
/// but for those that another version has too.
///
/// May be used by any thread. After [#close] hooks may go on, and what they count is not seen.
public final class HookMetrics implements Metrics, AutoCloseable {

    static final int MOST = 100;

    private static final Pattern NAME = Pattern.compile("[a-z][a-z0-9_]{0,59}");

    private final ModelMetrics model;
    // Guarded by the monitor of this.
    private final Map<String, DoubleConsumer> instruments = new HashMap<>();
    private boolean closed;

    public HookMetrics(ModelMetrics model) {
        this.model = model;
    }

    @Override
    public Counter counter(String name, String description) {
        var instrument = instrument(ModelMetrics.Kind.COUNTER, name, description);
        return amount -> {
            if (!(amount >= 0)) {
                throw new IllegalArgumentException(
                        "counter %s: found %s, expected a number from 0".formatted(name, amount));
            }
            instrument.accept(amount);
        };
    }

    @Override
    public Timer timer(String name, String description) {
        var instrument = instrument(ModelMetrics.Kind.TIMER, name, description);
        return took -> instrument.accept((double) took.toNanos());
    }

    @Override
    public Gauge gauge(String name, String description) {
        return instrument(ModelMetrics.Kind.GAUGE, name, description)::accept;
    }

    private synchronized DoubleConsumer instrument(ModelMetrics.Kind kind, String name, String description) {
        if (!NAME.matcher(name).matches()) {
            throw new IllegalArgumentException(
                    "metric \"%s\": expected 1 to 60 lower-case letters, digits and _, a letter first".formatted(name));
        }
        if (closed) {
            return _ -> {};
        }
        var known = instruments.get(name);
        if (known == null && instruments.size() == MOST) {
            throw new IllegalArgumentException(
                    "metric %s: found %d others, expected at most %d of a model".formatted(name, MOST, MOST));
        }
        // Also where it is known: of another kind it is refused.
        var instrument = model.hookInstrument(kind, name, description, known == null);
        instruments.put(name, instrument);
        return instrument;
    }

    @Override
    public synchronized void close() {
        if (!closed) {
            closed = true;
            instruments.keySet().forEach(model::releaseHookInstrument);
            instruments.clear();
        }
    }
}
