package dev.berth.batching;

import dev.berth.hooks.Accelerator;
import java.time.Duration;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Future;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

/// The threads on which the workers of all models take turns: as many for each accelerator as it has
/// places. Each model has a worker, with a predictor of its own, for each place.
///
/// A worker that has something to do waits for a thread, in order, and has it for one turn. So models
/// take turns, batch by batch, and a busy thread goes from one to the next.
public final class WorkerPool {

    /// How many predictions may not end before the process should be replaced.
    private static final int MOST_STUCK = 32;

    /// How long a worker may keep a place that other models wait for.
    private static final Duration PATIENCE = Duration.ofSeconds(1);

    /// By the numbers of workers.
    private final List<Accelerator> accelerators;

    private final ThreadFactory factory;

    private final Map<Accelerator, SharedThreads> threads = new HashMap<>();

    private final ScheduledThreadPoolExecutor timer;

    /// The requests of all models.
    public final Waiters waiters = new Waiters((nanos, look) -> {
        var _ = executeIn(nanos, look);
    });

    /// How many predictions do not end.
    final AtomicInteger stuck = new AtomicInteger();

    /// @param accelerators one for each worker of a model
    public WorkerPool(List<Accelerator> accelerators) {
        this.accelerators = List.copyOf(accelerators);
        var plain = Thread.ofPlatform()
                .name("berth-worker-", 0)
                .daemon()
                .inheritInheritableThreadLocals(false)
                .factory();
        this.factory = task -> plain.newThread(() -> {
            if (this.accelerators.getFirst() instanceof Accelerator.Cpu) {
                ThreadPriority.lower();
            }
            task.run();
        });
        for (var accelerator : this.accelerators) {
            int places = Collections.frequency(this.accelerators, accelerator);
            this.threads.computeIfAbsent(accelerator, _ -> new SharedThreads(places, PATIENCE, factory));
        }
        this.timer = new ScheduledThreadPoolExecutor(
                1, Thread.ofPlatform().name("berth-worker-timer").daemon().factory());
        timer.setKeepAliveTime(SharedThreads.IDLE.toSeconds(), TimeUnit.SECONDS);
        timer.allowCoreThreadTimeOut(true);
        timer.setRemoveOnCancelPolicy(true);
    }

    /// One for each worker of a model.
    public List<Accelerator> accelerators() {
        return accelerators;
    }

    /// Whether so few predictions do not end that models may go on.
    public boolean isHealthy() {
        return stuck.get() < MOST_STUCK;
    }

    /// Where the turns of a worker take place.
    ///
    /// @param worker its number
    SharedThreads threads(int worker) {
        return threads.get(accelerators.get(worker));
    }

    /// Has something done on a thread of its own.
    Thread start(Runnable action) {
        var thread = factory.newThread(action);
        thread.start();
        return thread;
    }

    /// Has something done later, on a thread that all share.
    Future<?> executeIn(long nanos, Runnable action) {
        return timer.schedule(action, nanos, TimeUnit.NANOSECONDS);
    }

    /// Has all turns that have not begun take place on new threads, as [SharedThreads#renew] says.
    void renew() {
        threads.values().forEach(SharedThreads::renew);
    }
}
