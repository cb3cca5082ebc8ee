package dev.berth.batching;

import dev.berth.hooks.Accelerator;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Future;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.ThreadPoolExecutor;
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

    /// After how long without anything to do a thread ends.
    static final Duration IDLE = Duration.ofMinutes(1);

    /// By the numbers of workers.
    private final List<Accelerator> accelerators;

    private final ThreadFactory factory;

    /// Guarded by the monitor.
    private final Map<Accelerator, Place> places = new HashMap<>();

    private final ScheduledThreadPoolExecutor timer;

    /// How many predictions do not end.
    final AtomicInteger stuck = new AtomicInteger();

    /// @param accelerators one for each place
    /// @param onStart run first by each thread
    public WorkerPool(List<Accelerator> accelerators, Runnable onStart) {
        if (accelerators.isEmpty()) {
            throw new IllegalArgumentException("workers: found none, expected at least 1");
        }
        this.accelerators = List.copyOf(accelerators);
        var threads = Thread.ofPlatform()
                .name("berth-worker-", 0)
                .daemon()
                .inheritInheritableThreadLocals(false)
                .factory();
        this.factory = task -> threads.newThread(() -> {
            onStart.run();
            task.run();
        });
        this.timer = new ScheduledThreadPoolExecutor(
                1, Thread.ofPlatform().name("berth-worker-timer").daemon().factory());
        timer.setKeepAliveTime(IDLE.toSeconds(), TimeUnit.SECONDS);
        timer.allowCoreThreadTimeOut(true);
        timer.setRemoveOnCancelPolicy(true);
    }

    /// The number of workers that a model has.
    public int size() {
        return accelerators.size();
    }

    /// Whether so few predictions do not end that models may go on.
    public boolean isHealthy() {
        return stuck.get() < MOST_STUCK;
    }

    /// Has a worker take its turn when a thread is free.
    ///
    /// @param worker its number
    synchronized void execute(int worker, Runnable turn) {
        place(worker).threads.execute(turn);
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

    /// Whether a thread waits for something to do, or could be made.
    synchronized boolean isFree(int worker) {
        return place(worker).isFree();
    }

    /// Where the turns of a worker take place from now on.
    synchronized Place place(int worker) {
        return places.computeIfAbsent(accelerators.get(worker), this::newPlace);
    }

    private Place newPlace(Accelerator accelerator) {
        return new Place((int) accelerators.stream().filter(accelerator::equals).count());
    }

    /// Has all turns that have not begun take place on new threads: those that there are keep what hooks
    /// have left in thread-local variables.
    synchronized void renew() {
        places.replaceAll((accelerator, old) -> {
            var renewed = newPlace(accelerator);
            var waiting = new ArrayList<Runnable>();
            old.threads.getQueue().drainTo(waiting);
            old.threads.shutdown();
            waiting.forEach(renewed.threads::execute);
            return renewed;
        });
    }

    /// The threads of one accelerator.
    final class Place {
        private final int most;
        private final ThreadPoolExecutor threads;

        private Place(int most) {
            this.most = most;
            this.threads = new ThreadPoolExecutor(
                    most, most, IDLE.toSeconds(), TimeUnit.SECONDS, new LinkedBlockingQueue<>(), factory);
            threads.allowCoreThreadTimeOut(true);
        }

        private boolean isFree() {
            return threads.getActiveCount() < most;
        }

        /// Has another thread go on in place of one whose turn takes long, or with -1 no more.
        synchronized void replace(int more) {
            int size = threads.getCorePoolSize() + more;
            threads.setMaximumPoolSize(Math.max(size, threads.getCorePoolSize()));
            threads.setCorePoolSize(size);
            threads.setMaximumPoolSize(size);
        }
    }
}
