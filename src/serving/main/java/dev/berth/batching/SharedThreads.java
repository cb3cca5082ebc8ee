package dev.berth.batching;

import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.SequencedSet;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/// Threads that the tasks of all models share, in the order in which the tasks came: as many run at once as
/// there are places.
///
/// A task leaves its place to the next one, on another thread, when it says so, and when it runs for long
/// while others wait. So one that waits or hangs keeps nobody from running. How many tasks of a model may
/// be here is for that model to bound.
///
/// May be used by any thread. The monitor guards which tasks run.
public final class SharedThreads {

    /// After how long without anything to do a thread ends.
    static final Duration IDLE = Duration.ofMinutes(1);

    private final int places;
    private final long patience;
    private final ThreadFactory factory;
    private final SequencedSet<Task> running = new LinkedHashSet<>();
    private ThreadPoolExecutor threads;
    private boolean isWatched;

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
        return made;
    }

    /// Has something run when there is a place for it.
    ///
    /// @throws OutOfMemoryError where there is no memory for a thread; it will not run then
    public synchronized Task execute(Runnable action) {
        var task = new Task(action);
        threads.execute(task);
        if (!isWatched && !threads.getQueue().isEmpty()) {
            isWatched = true;
            Thread.ofVirtual().name("berth-shared-threads").start(this::watch);
        }
        return task;
    }

    /// Whether there is a place for one more.
    synchronized boolean hasPlace() {
        return running.size() < threads.getCorePoolSize();
    }

    private void watch() {
        do {
            LockSupport.parkNanos(patience);
        } while (findLong());
    }

    /// @return whether tasks wait
    private synchronized boolean findLong() {
        isWatched = !threads.getQueue().isEmpty();
        if (isWatched) {
            long before = System.nanoTime() - patience;
            running.stream().takeWhile(task -> task.since - before <= 0).forEach(Task::leavePlace);
        }
        return isWatched;
    }

    /// Has what comes from now on, or waits, run on new threads: those that there are keep what hooks have left
    /// in thread-local variables.
    public synchronized void renew() {
        var waiting = new ArrayList<Runnable>();
        threads.getQueue().drainTo(waiting);
        threads.shutdown();
        threads = newThreads();
        waiting.forEach(threads::execute);
    }

    /// Something that runs here, or will.
    public final class Task implements Runnable {
        private final Runnable action;

        // Guarded by the monitor.
        private long since;
        private ThreadPoolExecutor on;
        private boolean hasLeft;

        private Task(Runnable action) {
            this.action = action;
        }

        /// By the threads alone.
        @Override
        public void run() {
            synchronized (SharedThreads.this) {
                since = System.nanoTime();
                on = threads;
                running.add(this);
            }
            try {
                action.run();
            } finally {
                synchronized (SharedThreads.this) {
                    running.remove(this);
                    if (hasLeft) {
                        resize(-1);
                    }
                }
            }
        }

        /// Leaves its place to another while it runs.
        public void leavePlace() {
            synchronized (SharedThreads.this) {
                if (!hasLeft && running.contains(this)) {
                    hasLeft = true;
                    resize(1);
                }
            }
        }

        private void resize(int more) {
            int size = on.getCorePoolSize() + more;
            on.setMaximumPoolSize(Math.max(size, on.getCorePoolSize()));
            on.setCorePoolSize(size);
            on.setMaximumPoolSize(size);
        }
    }
}
