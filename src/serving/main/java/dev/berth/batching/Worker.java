package dev.berth.batching;

import dev.berth.error.Unsaid;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Future;
import java.util.concurrent.locks.Condition;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.slf4j.MDC;

/// One worker of a model: it has its [Runner] take turns on the threads of the [WorkerPool] as long as
/// there is something to do.
final class Worker<I, O> {

    private static final Logger log = LoggerFactory.getLogger(Worker.class);

    private final Runner<I, O> runner;
    private final BatchQueue<I, O> queue;
    private final WorkerPool pool;

    // All that follows is guarded by the lock of the queue.

    private final Condition ended;

    /// Whether its turn has begun, or will when a thread is free.
    private boolean isInTurn;

    /// Its turn, and the thread of that; null before it begins and after.
    private SharedThreads.Task turn;

    /// The same, or that which closes its predictor.
    private Thread thread;

    /// Looks again when something that waits is to begin.
    private Future<?> later = CompletableFuture.completedFuture(null);

    /// Whether a prediction does not end.
    private boolean isStuck;

    /// Whether it takes no more: its model is closed, or its predictor of no use.
    private boolean isRetired;

    private boolean isCounted;

    Worker(Runner<I, O> runner, BatchQueue<I, O> queue, WorkerPool pool) {
        this.runner = runner;
        this.queue = queue;
        this.pool = pool;
        this.ended = queue.lock.newCondition();
    }

    /// Whether it is idle and could take of what waits.
    boolean isNeeded() {
        return !isInTurn && !isRetired && runner.canTake();
    }

    /// Whether it is idle, and holds what may go on: a reader has room again, or a request has ended.
    boolean isHolding() {
        return !isInTurn && !isRetired && !runner.taken.isEmpty();
    }

    boolean hasFreePlace() {
        return pool.threads(runner.worker).hasPlace();
    }

    /// Begins a turn, or looks again when there is something to do.
    void wake() {
        long ripe = runner.ripeInNanos();
        later.cancel(false);
        if (ripe <= 0) {
            isInTurn = true;
            queue.afterwards(this::beginTurn);
        } else if (ripe < Long.MAX_VALUE) {
            later = pool.executeIn(ripe, () -> queue.locked(this::wakeIfIdle));
        }
    }

    private void wakeIfIdle() {
        if (!isInTurn && !isRetired) {
            wake();
        }
    }

    private void beginTurn() {
        try {
            pool.threads(runner.worker).execute(this::takeTurn);
        } catch (OutOfMemoryError e) {
            // There is no memory for a thread. The next request that waits has it tried again.
            queue.metrics.caught(e);
            queue.locked(() -> isInTurn = false);
        }
    }

    private void takeTurn(SharedThreads.Task task) {
        var begun = queue.locked(() -> {
            if (isRetired) {
                return false;
            }
            turn = task;
            thread = Thread.currentThread();
            return true;
        });
        if (!begun) {
            return;
        }
        MDC.setContextMap(runner.logContext());
        try {
            runner.predictWhatWaits();
        } catch (Throwable e) {
            queue.metrics.caught(e);
            log.error("{}: worker {} can't predict any more", queue.metrics.model(), runner.worker, Unsaid.of(e));
            queue.locked(() -> lose(e));
        } finally {
            if (!queue.locked(this::endTurn)) {
                free();
            }
            MDC.clear();
        }
    }

    /// @return false: it has retired, and its predictor is to be closed before it leaves
    private boolean endTurn() {
        if (!isRetired) {
            leave();
            wake();
        }
        return !isRetired;
    }

    /// Its predictor is of no use any more: all that it has taken fails, and with the last worker every
    /// open request.
    private void lose(Throwable cause) {
        Submission.of(runner.taken).forEach(request -> queue.end(request, cause));
        isRetired = true;
        count("%s has lost its last worker".formatted(queue.metrics.model()));
    }

    private void leave() {
        if (isStuck) {
            isStuck = false;
            pool.stuck.decrementAndGet();
            queue.countStuck(-1);
            count(queue.noWorkers());
        }
        isInTurn = false;
        turn = null;
        thread = null;
        ended.signalAll();
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

    /// Begins to serve. The lock is held, as in what follows but [#join].
    void start() {
        count("");
    }

    /// A prediction that has not ended `grace` after the deadline of all its requests is stuck: its worker
    /// counts as lost until it ends.
    ///
    /// @return its thread, where it is stuck and was not known to be
    Optional<Thread> findStuck(Duration grace) {
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
        if (turn != null) {
            turn.leavePlace();
        }
    }

    /// Takes no more. Its predictor is closed at the end of its turn, or on a thread that waits for no turn
    /// of others.
    void retire() {
        isRetired = true;
        count("");
        later.cancel(false);
        if (thread == null) {
            try {
                thread = pool.start(this::free);
            } catch (OutOfMemoryError e) {
                // There is no memory for a thread.
                queue.metrics.caught(e);
                queue.afterwards(this::free);
            }
        }
    }

    private void free() {
        runner.close();
        queue.locked(this::leave);
    }

    /// Closes the predictor of a worker that has never begun to serve.
    void close() {
        runner.close();
    }

    /// Waits for the turn of a worker that has retired, which closes the predictor. One that has not
    /// ended after `time` is left behind.
    void join(Duration time) throws InterruptedException {
        queue.lock.lock();
        try {
            for (long left = time.toNanos(); thread != null && left > 0; left = ended.awaitNanos(left)) {
                // It may have ended.
            }
        } finally {
            queue.lock.unlock();
        }
        queue.locked(() -> {
            if (thread != null && !isStuck) {
                log.warn(
                        "{}: worker {} still runs {} s after it was told to end; it is left behind",
                        queue.metrics.model(),
                        runner.worker,
                        time.toSeconds());
                giveUp();
            }
        });
    }

    boolean hasEnded() {
        return queue.locked(() -> thread == null);
    }
}
