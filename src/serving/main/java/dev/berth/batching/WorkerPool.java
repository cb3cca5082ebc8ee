package dev.berth.batching;

import dev.berth.metrics.ServingMetrics;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.NavigableMap;
import java.util.Optional;
import java.util.SequencedSet;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Supplier;
import java.util.stream.IntStream;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// The threads that predict, shared by all models of the process, and the one lock of this package.
///
/// Each worker has a number and a platform thread. Every model has a predictor for each number, so
/// no predictor is ever used by two threads at once. Models with records that wait take turns,
/// batch by batch. An idle model costs no thread.
///
/// A thread that does not come back from a predictor is replaced, after 1 s where other models wait
/// for it. Only the model that holds it has one worker less then.
public final class WorkerPool implements AutoCloseable {

    private static final Logger log = LoggerFactory.getLogger(WorkerPool.class);

    /// What takes turns on the workers. Called with the lock held.
    abstract static class Model {

        /// Whether it has something to do, now or later.
        abstract boolean hasWork();

        /// In how long a worker should do something for it; zero or less: now; [Long#MAX_VALUE]: there
        /// is nothing for that worker.
        abstract long ripeInNanos(int worker);

        /// Takes the calling worker.
        ///
        /// @return what it does then, without the lock
        abstract Runnable enter(int worker);
    }

    /// How long [#close] waits for workers: native code may never end.
    static final Duration JOIN = Duration.ofSeconds(3);

    /// How many threads predictors may hold before the process should be replaced.
    private static final int MOST_HELD = 32;

    final ReentrantLock lock = new ReentrantLock();

    private final Runnable onStart;
    private final ServingMetrics metrics;

    // All that follows is guarded by the lock.

    private List<Runnable> afterwards = new ArrayList<>();

    /// The thread of each number. One that finds another in its place ends.
    private final Thread[] threads;

    /// The workers that wait for records, for a batch delay, or for the end, by their number. The
    /// first one is woken: requests that come one at a time are all the same worker's, whose data is
    /// in the caches.
    private final NavigableMap<Integer, Condition> idle = new TreeMap<>();

    /// The models with records, the one whose turn it is first.
    private final SequencedSet<Model> turns = new LinkedHashSet<>();

    private boolean closed;

    /// The threads that predictors hold for long, or for ever, until they come back. Others have their
    /// numbers. Read without the lock too, because `/ping` asks.
    private final Set<Thread> held = ConcurrentHashMap.newKeySet();

    /// Starts its threads, which inherit the priority of the calling one.
    ///
    /// @param onStart run first by each thread
    public WorkerPool(int size, Runnable onStart, ServingMetrics metrics) {
        if (size < 1) {
            throw new IllegalArgumentException("workers: found %d, expected at least 1".formatted(size));
        }
        this.onStart = onStart;
        this.metrics = metrics;
        this.threads = new Thread[size];
        IntStream.range(0, size).forEach(this::replace);
    }

    /// Has something run when the lock is free again. The lock is held.
    void afterwards(Runnable action) {
        afterwards.add(action);
    }

    void locked(Runnable action) {
        locked(() -> {
            action.run();
            return null;
        });
    }

    /// Runs something under the lock, and without it what [#afterwards] was told meanwhile.
    <T> T locked(Supplier<T> action) {
        List<Runnable> then = List.of();
        lock.lock();
        try {
            return action.get();
        } finally {
            if (lock.getHoldCount() == 1 && !afterwards.isEmpty()) {
                then = afterwards;
                afterwards = new ArrayList<>();
            }
            lock.unlock();
            then.forEach(Runnable::run);
        }
    }

    /// The number of workers.
    public int size() {
        return threads.length;
    }

    /// Whether so few threads are held by predictors that do not end that models may go on.
    public boolean hasThreads() {
        return held.size() < MOST_HELD;
    }

    /// Replaces each thread when it has ended its batch, so that nothing that the hooks of a model
    /// have left in thread-local variables outlives them.
    public void renew() {
        locked(() -> {
            IntStream.range(0, size()).forEach(this::replace);
            idle.values().forEach(Condition::signal);
        });
    }

    /// Has another thread stand in for one that predicts for long, where other models wait for it and
    /// there are few such threads. The lock is held.
    void standInFor(int worker, Thread thread) {
        if (held.size() < MOST_HELD / 2
                && turns.stream().anyMatch(model -> model.ripeInNanos(worker) < Long.MAX_VALUE)) {
            hold(worker, thread);
        }
    }

    /// Says that a predictor holds a worker's thread for long, or for ever. The lock is held.
    void hold(int worker, Thread thread) {
        if (held.add(thread) && threads[worker] == thread) {
            replace(worker);
        }
    }

    private void replace(int worker) {
        if (!closed) {
            threads[worker] = Thread.ofPlatform()
                    .name("berth-worker-" + worker)
                    .daemon()
                    .inheritInheritableThreadLocals(false)
                    .unstarted(() -> live(worker));
            threads[worker].start();
        }
    }

    /// Gives a model with records its turns and wakes the first worker that waits and can take them.
    /// One that has been woken waits no more, so that the next call wakes another. The lock is held.
    void wake(Model model) {
        turns.add(model);
        for (var waiting : idle.entrySet()) {
            if (model.ripeInNanos(waiting.getKey()) < Long.MAX_VALUE) {
                waiting.getValue().signal();
                idle.remove(waiting.getKey());
                return;
            }
        }
    }

    private void live(int worker) {
        onStart.run();
        while (true) {
            try {
                var turn = awaitTurn(worker);
                if (turn.isEmpty()) {
                    return;
                }
                turn.get().run();
            } catch (InterruptedException _) {
                // A queue interrupts while a batch runs and at no other time: this is a predictor's doing
                // and means nothing.
            } catch (Throwable e) {
                metrics.caught(e);
                log.error(
                        "{} failed outside of a predictor",
                        Thread.currentThread().getName(),
                        e);
            }
        }
    }

    /// Waits until a batch should be made on a worker.
    ///
    /// @return nothing: the calling thread is to end
    private Optional<Runnable> awaitTurn(int worker) throws InterruptedException {
        lock.lock();
        try {
            while (!closed && threads[worker] == Thread.currentThread()) {
                long soonest = Long.MAX_VALUE;
                Model ripe = null;
                for (var models = turns.iterator(); ripe == null && models.hasNext(); ) {
                    var model = models.next();
                    if (!model.hasWork()) {
                        models.remove();
                        continue;
                    }
                    long delay = model.ripeInNanos(worker);
                    ripe = delay <= 0 ? model : null;
                    soonest = Math.min(soonest, delay);
                }
                if (ripe != null) {
                    turns.remove(ripe);
                    turns.addLast(ripe);
                    var turn = ripe.enter(worker);
                    wakeForOthers(ripe);
                    return Optional.of(turn);
                }
                var woken = lock.newCondition();
                idle.put(worker, woken);
                try {
                    woken.awaitNanos(soonest);
                } finally {
                    idle.remove(worker, woken);
                }
            }
            held.remove(Thread.currentThread());
            // A worker that was replaced while it had a predictor may have kept its successor from that.
            turns.forEach(this::wake);
            return Optional.empty();
        } finally {
            lock.unlock();
        }
    }

    /// Has another worker look after the models that this one leaves alone.
    private void wakeForOthers(Model taken) {
        if (!idle.isEmpty()) {
            turns.stream().filter(model -> !model.equals(taken)).findFirst().ifPresent(this::wake);
        }
    }

    /// Lets the threads go. An interrupt ends the waiting for them.
    @Override
    public void close() {
        var ending = locked(() -> {
            closed = true;
            idle.values().forEach(Condition::signal);
            return threads.clone();
        });
        try {
            long deadline = System.nanoTime() + JOIN.toNanos();
            for (var thread : ending) {
                thread.join(Duration.ofNanos(Math.max(1, deadline - System.nanoTime())));
            }
        } catch (InterruptedException _) {
            Thread.currentThread().interrupt();
        }
    }
}
