package dev.berth.serving;

import dev.berth.metrics.ModelMetrics;
import dev.berth.metrics.ServingMetrics;
import dev.berth.serving.hooks.HookThreads;
import java.time.Duration;
import java.util.Collection;
import java.util.Optional;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.slf4j.MDC;

/// What `/ping` says: whether this process can answer requests, or should be replaced. May be used
/// by any thread, and never waits. It should be where the heap is full, too many hooks are stuck, or
/// no model can serve.
///
/// A thread of its own looks at the heap, and has all models look for hooks that still run long after
/// the deadline of their request and for sessions that are not used, because no caller waits for those.
public final class Health implements AutoCloseable {

    private static final Logger log = LoggerFactory.getLogger(Health.class);

    private final ServingMetrics metrics;
    private final HeapWatch heap;
    private final HookThreads hooks;
    private final Supplier<Optional<String>> ofModels;
    private final Supplier<Collection<ServedModel>> models;
    private final Duration grace;
    private final ScheduledExecutorService watch = Executors.newSingleThreadScheduledExecutor(
            Thread.ofPlatform().name("berth-stuck-hooks").daemon().factory());

    private volatile boolean stopping;

    /// @param ofModels why they can't answer any more
    /// @param models all that hold something
    /// @param grace how long a hook may run after the deadline of its request
    public Health(
            ServingMetrics metrics,
            HookThreads hooks,
            Supplier<Optional<String>> ofModels,
            Supplier<Collection<ServedModel>> models,
            Duration grace) {
        this.metrics = metrics;
        this.heap = new HeapWatch(metrics);
        this.hooks = hooks;
        this.ofModels = ofModels;
        this.models = models;
        this.grace = grace;
    }

    /// Why it can't; nothing where it can.
    public Optional<String> problem() {
        return stopping
                ? Optional.of("the server is stopping")
                : heap.problem().or(hooks::problem).or(ofModels);
    }

    /// Begins to look.
    public void start() {
        long everyMillis = Math.clamp(grace.toMillis() / 2, 100, 1000);
        var _ = watch.scheduleWithFixedDelay(this::look, everyMillis, everyMillis, TimeUnit.MILLISECONDS);
    }

    /// The watch would end with what this throws.
    private void look() {
        try {
            heap.look();
            for (var model : models.get()) {
                model.look(grace, (what, stack) -> tell(model.name(), what, stack));
            }
        } catch (Throwable e) {
            metrics.caught(e);
            log.error("could not look for hooks that are stuck and sessions that are not used", e);
        }
    }

    /// Says where a hook is that is stuck.
    private static void tell(String model, String what, StackTraceElement[] stack) {
        var place = new Throwable("it is here");
        place.setStackTrace(stack);
        try (var _ = MDC.putCloseable(ModelMetrics.LABEL, model)) {
            log.warn(what, place);
        }
    }

    /// Says from now on that it can't, whatever the models do.
    public void stop() {
        stopping = true;
    }

    public boolean isStopping() {
        return stopping;
    }

    @Override
    public void close() {
        watch.shutdownNow();
    }
}
