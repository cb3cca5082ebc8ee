package dev.berth.serving.many;

import dev.berth.metrics.ModelMetrics;
import dev.berth.metrics.ServingMetrics;
import dev.berth.serving.Health;
import java.time.Duration;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.slf4j.MDC;

/// Has all models look for hooks that still run long after the deadline of their request, and says
/// once where each of them is.
///
/// Runs on a thread of its own, because no caller waits for such a hook. The thread has the probes
/// of [Health] look too.
public final class StuckHooks implements AutoCloseable {

    private static final Logger log = LoggerFactory.getLogger(StuckHooks.class);

    private final Served models;
    private final Health health;
    private final ServingMetrics metrics;
    private final Duration grace;
    private final ScheduledExecutorService watch = Executors.newSingleThreadScheduledExecutor(
            Thread.ofPlatform().name("berth-stuck-hooks").daemon().factory());

    /// @param grace how long a hook may run after the deadline of its request
    public StuckHooks(Served models, Health health, ServingMetrics metrics, Duration grace) {
        this.models = models;
        this.health = health;
        this.metrics = metrics;
        this.grace = grace;
    }

    public void start() {
        long everyMillis = Math.clamp(grace.toMillis() / 2, 100, 1000);
        var _ = watch.scheduleWithFixedDelay(this::look, everyMillis, everyMillis, TimeUnit.MILLISECONDS);
    }

    /// The watch would end with what this throws.
    private void look() {
        try {
            health.look();
            for (var model : models.all()) {
                model.findStuck(grace, (what, stack) -> tell(model.name(), what, stack));
            }
        } catch (Throwable e) {
            metrics.caught(e);
            log.error("could not look for hooks that are stuck", e);
        }
    }

    private static void tell(String model, String what, StackTraceElement[] stack) {
        var place = new Throwable("it is here");
        place.setStackTrace(stack);
        try (var _ = MDC.putCloseable(ModelMetrics.LABEL, model)) {
            log.warn(what, place);
        }
    }

    @Override
    public void close() {
        watch.shutdownNow();
    }
}
