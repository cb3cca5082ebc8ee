package dev.berth.batching;

import dev.berth.error.Unsaid;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.locks.Condition;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.slf4j.MDC;

/// One worker of a model: a thread that has its [Runner] take turns as long as there is something to
/// do. The thread ends when there was nothing for long, and a new one begins when there is.
final class Worker<I, O> {

    /// After how long without anything to do the thread ends.
    static final Duration IDLE = Duration.ofMinutes(1);

    /// How long a turn may keep a place that other models wait for.
    private static final Duration PATIENCE = Duration.ofSeconds(1);

    private static final Logger log = LoggerFactory.getLogger(Worker.class);

    private final Runner<I, O> runner;
    private final BatchQueue<I, O> queue;
    private final WorkerPool pool;
    private final Condition woken;

    // All that follows is guarded by the lock of the queue.

    /// Null where there is none, for it has had nothing to do.
    private Thread thread;

    /// Whether it waits for something to do, or has no thread.
    private boolean isIdle = true;

    /// Until when it waits where nobody wakes it.
    private long waitsUntil;

    /// Whether it waits for one of the places of the [WorkerPool].
    private boolean waitsForPlace;

    /// Whether it has one.
    private boolean hasPlace;

    private long placeSince;

    /// Whether a prediction does not end.
    private boolean isStuck;

    /// Whether it takes no more: its model is closed, or its predictor of no use.
    private boolean isRetired;

    private boolean isCounted;

    Worker(Runner<I, O> runner, BatchQueue<I, O> queue, WorkerPool pool) {
        this.runner = runner;
        this.queue = queue;
        this.pool = pool;
        this.woken = queue.lock.newCondition();
    }

    /// Whether it is idle and could take of what waits.
    boolean isNeeded() {
        return isIdle && !isRetired && runner.canTake();
    }

    /// Whether it is idle for longer than what it has taken can wait: a reader has room again, or a
    /// request has ended.
    boolean isLate() {
        return isIdle && !isRetired && runner.takenRipeInNanos() < waitsUntil - queue.now();
    }

    boolean hasFreePlace() {
        return pool.isFree(runner.worker);
    }

    private long ripeInNanos() {
        return isRetired ? Long.MAX_VALUE : runner.ripeInNanos();
    }

    void wake() {
        if (thread == null) {
            thread = Thread.ofPlatform()
                    .name("berth-worker-" + runner.worker)
                    .daemon()
                    .inheritInheritableThreadLocals(false)
                    .start(this::live);
        } else {
            woken.signal();
        }
        isIdle = false;
    }

    private void live() {
        pool.onStart.run();
        MDC.setContextMap(runner.logContext());
        while (awaitWork()) {
            if (!pool.enter(runner.worker)) {
                continue;
            }
            queue.locked(() -> {
                waitsForPlace = false;
                // One that was meant to end the wait.
                Thread.interrupted();
                hasPlace = true;
                placeSince = queue.now();
            });
            try {
                runner.predictWhatWaits();
            } catch (Throwable e) {
                queue.metrics.caught(e);
                log.error("{}: worker {} can't predict any more", queue.metrics.model(), runner.worker, Unsaid.of(e));
                queue.locked(() -> lose(e));
            } finally {
                queue.locked(this::leave);
            }
        }
    }

    /// Waits until there is something to do; false: the thread is to end.
    private boolean awaitWork() {
        queue.lock.lock();
        try {
            waitsForPlace = false;
            long idle = IDLE.toNanos();
            while (!isRetired) {
                long ripe = ripeInNanos();
                boolean hasNothing = ripe == Long.MAX_VALUE;
                if (ripe <= 0) {
                    waitsForPlace = true;
                    return true;
                }
                isIdle = true;
                if (hasNothing && idle <= 0) {
                    thread = null;
                    return false;
                }
                long time = hasNothing ? idle : ripe;
                waitsUntil = queue.now() + time;
                try {
                    long left = woken.awaitNanos(time);
                    idle = hasNothing ? left : idle;
                } catch (InterruptedException _) {
                    // A batch is interrupted while it runs and at no other time: this is a predictor's doing
                    // and means nothing.
                }
                isIdle = false;
            }
        } finally {
            queue.lock.unlock();
        }
        runner.close();
        queue.locked(() -> {
            leave();
            thread = null;
        });
        return false;
    }

    /// Its predictor is of no use any more: all that it has taken fails, and with the last worker every
    /// open request.
    private void lose(Throwable cause) {
        Submission.of(runner.taken).forEach(request -> queue.end(request, cause));
        isRetired = true;
        count("%s has lost its last worker".formatted(queue.metrics.model()));
    }

    private void leave() {
        leavePlace();
        if (isStuck) {
            isStuck = false;
            pool.stuck.decrementAndGet();
            queue.countStuck(-1);
            count(queue.noWorkers());
        }
    }

    private void leavePlace() {
        if (hasPlace) {
            hasPlace = false;
            pool.leave(runner.worker);
        }
    }

    /// Has itself counted if it can predict, and counted out if it can't.
    ///
    /// @param ifNone why requests are refused where no other worker can
    private void count(String ifNone) {
        boolean can = !isStuck && !isRetired;
        if (can != isCounted) {
            isCounted = can;
            queue.countWorkers(can ? 1 : -1, ifNone);
        }
    }

    /// Begins to serve. The lock is held, as in what follows but [#close] and [#join].
    void start() {
        count("");
    }

    /// Leaves its place to other models where its turn takes long, be that one prediction, the records of
    /// a failed batch one by one, or the end of a stream. A prediction that has not ended `grace` after
    /// the deadline of all its requests is stuck: its worker counts as lost until it ends.
    ///
    /// @return its thread, where it is stuck and was not known to be
    Optional<Thread> findStuck(Duration grace) {
        if (hasPlace && queue.now() - placeSince >= PATIENCE.toNanos()) {
            leavePlace();
        }
        if (isStuck || !queue.isOverdue(runner.worker, grace)) {
            return Optional.empty();
        }
        giveUp();
        return Optional.of(thread);
    }

    private void giveUp() {
        isStuck = true;
        pool.stuck.incrementAndGet();
        queue.countStuck(1);
        count(queue.noWorkers());
        leavePlace();
    }

    /// Takes no more.
    void retire() {
        isRetired = true;
        count("");
        woken.signal();
        if (waitsForPlace) {
            thread.interrupt();
        }
    }

    /// Closes the predictor of a worker that has retired, unless its thread will.
    void close() {
        if (queue.locked(() -> thread) == null) {
            runner.close();
        }
    }

    /// Waits for the thread of a worker that has retired, which closes the predictor. One that has not
    /// ended after `time` is left behind.
    void join(Duration time) throws InterruptedException {
        var ending = queue.locked(() -> thread);
        if (ending != null && !ending.join(time)) {
            log.warn(
                    "{}: worker {} still runs {} s after it was told to end; it is left behind",
                    queue.metrics.model(),
                    runner.worker,
                    time.toSeconds());
            queue.locked(() -> {
                if (!isStuck && thread != null && ending.isAlive()) {
                    giveUp();
                }
            });
        }
    }

    boolean hasEnded() {
        var ending = queue.locked(() -> thread);
        return ending == null || !ending.isAlive();
    }
}
