package dev.berth.serving.hooks;

import dev.berth.error.ErrorType;
import dev.berth.metrics.ModelMetrics;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;

/// Platform threads for hooks of one model, in order of arrival.
///
/// Two threads more than there are cores run at first, because more of them take the cores from
/// each other. Hooks may wait for other services, so there is one more for each hook that has waited
/// for [#PATIENCE_NANOS], up to [#MOST], until none runs. A hook that has left its place does not
/// count.
final class HookThreads implements AutoCloseable {

    static final int MOST = 32;

    private static final int USUAL = Math.min(MOST, Runtime.getRuntime().availableProcessors() + 2);

    /// Hooks that have left their place, beside which others run.
    private static final int MOST_AWAY = 128;

    /// More than the queue of a model holds; beyond it, a request is rejected at once.
    private static final int MOST_WAITING = 2000;

    private static final long PATIENCE_NANOS = TimeUnit.MILLISECONDS.toNanos(10);

    private static final ThreadFactory FACTORY = Thread.ofPlatform()
            .name("berth-hook-", 0)
            .daemon()
            .inheritInheritableThreadLocals(false)
            .factory();

    private final ModelMetrics metrics;
    private final ThreadPoolExecutor threads;

    final Set<HookRun<?>> running = ConcurrentHashMap.newKeySet();

    /// Whether the hooks that wait are looked after.
    private final AtomicBoolean watched = new AtomicBoolean();

    /// How many hooks have left their place. Guarded by the monitor of this.
    private int away;

    /// How many threads there are beyond the usual ones, because hooks have waited for too long.
    /// Written under the monitor.
    private volatile int extra;

    HookThreads(ModelMetrics metrics) {
        this.metrics = metrics;
        this.threads = new ThreadPoolExecutor(
                USUAL,
                USUAL,
                1,
                TimeUnit.MINUTES,
                new LinkedBlockingQueue<>(MOST_WAITING),
                FACTORY,
                (run, _) -> reject((HookRun<?>) run));
        threads.allowCoreThreadTimeOut(true);
    }

    /// Has a hook run as soon as a thread is free.
    void execute(HookRun<?> run) {
        threads.execute(run);
        watch();
    }

    private void reject(HookRun<?> run) {
        if (threads.isShutdown()) {
            throw ErrorType.NOT_READY.because("the model is stopping");
        }
        metrics.overloaded.increment();
        throw ErrorType.OVERLOADED.because(
                "%d requests wait for %s already; try again later".formatted(MOST_WAITING, run.hook()));
    }

    /// A hook that was given up is not to run.
    void remove(HookRun<?> run) {
        threads.remove(run);
    }

    /// Another hook runs beside one that runs.
    synchronized void leavePlace() {
        away++;
        resize();
    }

    /// A hook has ended. Where no other runs, the usual threads are enough.
    ///
    /// @param wasAway whether it had left its place
    void ended(HookRun<?> run, boolean wasAway) {
        running.remove(run);
        boolean isLast = extra > 0 && running.isEmpty();
        if (wasAway || isLast) {
            synchronized (this) {
                away -= wasAway ? 1 : 0;
                extra = isLast ? 0 : extra;
                resize();
            }
        }
    }

    /// Where the number grows, the maximum must do so first, and last where it shrinks.
    private void resize() {
        int count = USUAL + extra + Math.min(away, MOST_AWAY);
        threads.setMaximumPoolSize(Math.max(count, threads.getCorePoolSize()));
        threads.setCorePoolSize(count);
        threads.setMaximumPoolSize(count);
    }

    private void watch() {
        if (!threads.getQueue().isEmpty() && watched.compareAndSet(false, true)) {
            try {
                Thread.ofVirtual().name("berth-hook-watch").start(this::lookAfterThem);
            } catch (OutOfMemoryError e) {
                // The hook has its place in the queue; the next one has the thread started.
                metrics.caught(e);
                watched.set(false);
            }
        }
    }

    /// Looks after the hooks that wait, again and again until none does.
    private void lookAfterThem() {
        try {
            while (!threads.getQueue().isEmpty()) {
                TimeUnit.NANOSECONDS.sleep(PATIENCE_NANOS);
                grow();
            }
        } catch (InterruptedException e) {
            // Nobody interrupts it.
            Thread.currentThread().interrupt();
        } finally {
            watched.set(false);
        }
        watch();
    }

    private synchronized void grow() {
        long late = threads.getQueue().stream()
                .takeWhile(run -> ((HookRun<?>) run).waitsLonger(PATIENCE_NANOS))
                .count();
        int added = (int) Math.min(late, MOST - USUAL - extra);
        if (added > 0) {
            extra += added;
            try {
                resize();
            } catch (OutOfMemoryError e) {
                // The hooks go on without another thread.
                metrics.caught(e);
            }
        }
    }

    /// Takes no more hooks. Those that it has still run.
    @Override
    public void close() {
        threads.shutdown();
    }
}
