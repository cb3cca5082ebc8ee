package dev.berth.batching;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Consumer;

/// Threads that the tasks of all models share, in the order in which the tasks came: as many run at once as
/// there are places.
///
/// A task leaves its place to the next one, on another thread, when it says so, and when it runs for long
/// while others wait. So one that waits or hangs keeps nobody from running. How many tasks of a model may
/// be here is for that model to bound.
///
/// May be used by any thread. The monitor guards the number of places.
public final class SharedThreads {

    /// After how long without anything to do a thread ends.
    static final Duration IDLE = Duration.ofMinutes(1);

    private final int places;
    private final long patience;
    private final ThreadFactory factory;
    private final Set<Task> running = ConcurrentHashMap.newKeySet();
    private final AtomicBoolean isWatched = new AtomicBoolean();
    private volatile ThreadPoolExecutor threads;

    /// @param patience for how long a task keeps a place that others wait for
    public SharedThreads(int places, Duration patience, ThreadFactory factory) {
        this.places = places;
        this.patience = patience.toNanos();
        this.factory = factory;
        this.threads = newThreads();
    }

    private ThreadPoolExecutor newThreads() {
        var made = new ThreadPoolExecutor(
                places, places, IDLE.toSeconds(), TimeUnit.SECONDS, new LinkedBlockingQueue<>(), factory);
        made.allowCoreThreadTimeOut(true);
        // It was renewed meanwhile.
        made.setRejectedExecutionHandler((task, _) -> threads.execute(task));
        return made;
    }

    /// Has something run when there is a place for it. No lock that it takes should be held, or its thread
    /// waits for that at once.
    ///
    /// @param action told what it runs as
    /// @throws OutOfMemoryError where there is no thread and no memory for one; it will not run then
    public void execute(Consumer<Task> action) {
        var task = new Task(action);
        try {
            threads.execute(task);
        } catch (OutOfMemoryError e) {
            // Those that there are run it.
            if (threads.getPoolSize() == 0 || !threads.getQueue().offer(task)) {
                throw e;
            }
        }
        watchIfSomeWait();
    }

    private void watchIfSomeWait() {
        if (mustBeWatched()) {
            Thread.ofVirtual().name("berth-shared-threads").start(this::watch);
        }
    }

    private boolean mustBeWatched() {
        return !isWatched.get() && !threads.getQueue().isEmpty() && isWatched.compareAndSet(false, true);
    }

    /// Whether there is a place for one more.
    boolean hasPlace() {
        return running.size() < threads.getCorePoolSize();
    }

    /// While tasks wait.
    private void watch() {
        do {
            LockSupport.parkNanos(patience);
            long before = System.nanoTime() - patience;
            if (!threads.getQueue().isEmpty()) {
                running.stream().filter(task -> task.since - before <= 0).forEach(Task::leavePlace);
            }
            isWatched.set(false);
        } while (mustBeWatched());
    }

    /// Has what comes from now on, or waits, run on new threads: those that there are keep what hooks have left
    /// in thread-local variables.
    public synchronized void renew() {
        var old = threads;
        threads = newThreads();
        old.shutdown();
        var waiting = new ArrayList<Runnable>();
        old.getQueue().drainTo(waiting);
        waiting.forEach(threads::execute);
        watchIfSomeWait();
    }

    private synchronized void addPlaces(ThreadPoolExecutor to, int more) {
        int size = to.getCorePoolSize() + more;
        to.setMaximumPoolSize(Math.max(size, to.getCorePoolSize()));
        to.setCorePoolSize(size);
        to.setMaximumPoolSize(size);
    }

    /// Something that runs here, or will.
    public final class Task implements Runnable {
        private final Consumer<Task> action;
        private volatile long since;

        // Guarded by the monitor of the task.
        private boolean isRunning;

        /// Where another one has its place; null: nowhere.
        private ThreadPoolExecutor replaced;

        private Task(Consumer<Task> action) {
            this.action = action;
        }

        /// By the threads alone.
        @Override
        public void run() {
            begin();
            try {
                action.accept(this);
            } finally {
                end();
            }
        }

        private synchronized void begin() {
            since = System.nanoTime();
            isRunning = true;
            running.add(this);
        }

        private synchronized void end() {
            isRunning = false;
            running.remove(this);
            if (replaced != null) {
                addPlaces(replaced, -1);
            }
        }

        /// Leaves its place to another while it runs.
        public synchronized void leavePlace() {
            if (isRunning && replaced == null) {
                replaced = threads;
                try {
                    addPlaces(replaced, 1);
                } catch (OutOfMemoryError _) {
                    // There is no memory for a thread. It is tried again as long as others wait.
                    addPlaces(replaced, -1);
                    replaced = null;
                }
            }
        }
    }
}
