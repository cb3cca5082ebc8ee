package dev.berth.batching;

import dev.berth.error.ErrorType;
import dev.berth.error.Unsaid;
import dev.berth.hooks.ModelUnusableException;
import dev.berth.metrics.ModelMetrics;
import java.time.Duration;
import java.util.Collection;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SequencedSet;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Future;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.slf4j.MDC;

/// One worker of a model: its predictor, and what it has taken from the queue. It takes turns on the
/// threads of the [WorkerPool] as long as there is something to do. The lock of the queue is never held
/// while the predictor runs.
///
/// Each turn takes pieces that wait, as many as there is room for, and has the predictor make one step
/// with those that can move. A step predicts them, or where the predictor is a [Predictor.InSteps] gives
/// the next part of each (continuous batching). Such a piece whose reader does not keep up, or that
/// pauses, leaves its place in the batch to others and keeps its state.
///
/// What a predictor throws has no effect on later batches.
final class Worker<I, O> {

    private static final Logger log = LoggerFactory.getLogger(Worker.class);

    private final int number;
    private final Predictor<I, O> predictor;
    private final Batcher<I, O> queue;
    private final ModelMetrics metrics;

    // All that follows is guarded by the lock of the queue.

    /// The pieces that it has taken and is not done with, the one whose turn it is first. The turn that
    /// runs, which alone changes them, reads them without the lock.
    private final SequencedSet<Piece<I, O>> taken = new LinkedHashSet<>();

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

    /// What its predictor has at the moment. An interrupt that has come for it ends with it, and none
    /// comes after.
    Optional<Batch<I, O>> running = Optional.empty();

    Worker(int number, Predictor<I, O> predictor, Batcher<I, O> queue) {
        this.number = number;
        this.predictor = predictor;
        this.queue = queue;
        this.metrics = queue.metrics;
    }

    boolean canPredict() {
        return !isStuck && !isRetired;
    }

    private boolean isIdle() {
        return !isInTurn && !isRetired;
    }

    /// Whether it is idle and could take of what waits.
    boolean isNeeded() {
        return isIdle() && canTake();
    }

    /// Whether it is idle, and holds what may go on: a reader has room again, or a request has ended.
    boolean isHolding() {
        return isIdle() && !taken.isEmpty();
    }

    boolean hasFreePlace() {
        return queue.pool.threads(number).hasPlace();
    }

    /// Begins a turn, or looks again when there is something to do.
    void wake() {
        long ripe = ripeInNanos();
        later.cancel(false);
        if (ripe <= 0) {
            isInTurn = true;
            queue.afterwards(this::beginTurn);
        } else if (ripe < Long.MAX_VALUE) {
            later = queue.pool.executeIn(ripe, () -> queue.locked(this::wakeIfIdle));
        }
    }

    private void wakeIfIdle() {
        if (isIdle()) {
            wake();
        }
    }

    /// In how long there is something to do; zero or less: now; [Long#MAX_VALUE]: never.
    private long ripeInNanos() {
        long now = queue.now();
        return taken.stream()
                .mapToLong(piece -> piece.ripeInNanos(now))
                .reduce(canTake() ? queue.line.ripeInNanos(now) : Long.MAX_VALUE, Math::min);
    }

    private boolean canTake() {
        return queue.line.size() > 0 && room() > 0;
    }

    /// How many pieces it takes now. One after the other where they are predicted in steps: they need
    /// not be of one bucket.
    private int room() {
        if (!queue.inSteps) {
            return taken.isEmpty() ? queue.limits.maxBatchSize() : 0;
        }
        return taken.size() < queue.limits.queueCapacity() && moving(taken).size() < queue.limits.maxBatchSize()
                ? 1
                : 0;
    }

    /// Those that take part in the next step.
    private List<Piece<I, O>> moving(Collection<Piece<I, O>> pieces) {
        long now = queue.now();
        return pieces.stream()
                .filter(piece -> piece.canMove(now))
                .limit(queue.limits.maxBatchSize())
                .toList();
    }

    private void beginTurn() {
        try {
            queue.pool.threads(number).execute(this::takeTurn);
        } catch (OutOfMemoryError e) {
            // There is no memory for a thread. The next request that waits has it tried again.
            metrics.caught(e);
            queue.locked(() -> isInTurn = false);
        }
    }

    private void takeTurn(SharedThreads.Task task) {
        if (!queue.locked(() -> begin(task))) {
            return;
        }
        MDC.setContextMap(logContext());
        try {
            closeOver();
            int room = room();
            while (room > 0 && queue.take(room, taken)) {
                room = room();
            }
            step(taken);
            closeOver();
        } catch (Throwable e) {
            metrics.caught(e);
            log.error("{}: worker {} can't predict any more", metrics.model(), number, Unsaid.of(e));
            queue.locked(() -> lose(e));
        } finally {
            if (!queue.locked(this::endTurn)) {
                free();
            }
            MDC.clear();
        }
    }

    private boolean begin(SharedThreads.Task task) {
        if (!isRetired) {
            turn = task;
            thread = Thread.currentThread();
        }
        return !isRetired;
    }

    /// @return false: it has retired, and its predictor is to be closed before it leaves
    private boolean endTurn() {
        if (!isRetired) {
            leave();
            wake();
        }
        return !isRetired;
    }

    /// Makes a step with those pieces that can move. Those that were given something keep it. After a
    /// failure the others are tried by themselves, so that only the culprit fails. It throws where the
    /// predictor is of no use any more.
    private void step(Collection<Piece<I, O>> pieces) {
        var batch = queue.locked(() -> {
            var begun = new Batch<>(moving(pieces), taken, queue.now());
            if (begun.size() > 0) {
                running = Optional.of(begun);
            }
            return begun;
        });
        if (batch.size() == 0) {
            return;
        }
        var thrown = run(batch);
        var moving = batch.pieces;
        if (thrown.isPresent() && moving.size() == 1 && !moving.getFirst().ended) {
            moving.getFirst().moved = true;
            moving.getFirst().failure = failure(batch, thrown.get());
        }
        settle(moving.stream().filter(piece -> piece.moved || thrown.isEmpty()).toList());
        if (thrown.isPresent()) {
            moving.stream().filter(piece -> !piece.moved).forEach(piece -> step(List.of(piece)));
        }
    }

    /// @return what was thrown
    private Optional<Throwable> run(Batch<I, O> batch) {
        try {
            batch.run(predictor, number, metrics, queue::now);
            return Optional.empty();
        } catch (ModelUnusableException e) {
            throw e;
        } catch (Throwable e) {
            metrics.caught(e);
            if (batch.size() > 1 && !batch.isUnwanted()) {
                log.warn(
                        "{}: a batch of {} records failed with {}; trying each by itself",
                        metrics.model(),
                        batch.size(),
                        Unsaid.of(e).toString());
            }
            return Optional.of(e);
        } finally {
            MDC.setContextMap(logContext());
            queue.locked(() -> {
                running = Optional.empty();
                Thread.interrupted();
            });
        }
    }

    /// Of a record that has failed by itself. It may have been interrupted because others waited for it.
    private Throwable failure(Batch<I, O> failed, Throwable cause) {
        return failed.isInterrupted()
                ? ErrorType.DEADLINE_EXCEEDED.because(
                        "%s took %.1f s for one record while others waited for it"
                                .formatted(queue.predictor, (queue.now() - failed.startedAt) / 1e9),
                        cause)
                : cause;
    }

    /// Says what became of pieces in a step. Their turn comes again after that of the others.
    private void settle(List<Piece<I, O>> moved) {
        queue.locked(() -> {
            long now = queue.now();
            for (var piece : moved) {
                if (piece.failure != null) {
                    piece.trace.failed(piece.failure);
                    queue.end(piece.request, piece.failure);
                } else if (piece.ended) {
                    queue.answer(piece);
                }
                piece.endStep(now);
                taken.addLast(piece);
            }
        });
    }

    /// Is done with pieces that have ended, and with those whose time is over while nothing moves them.
    private void closeOver() {
        if (!taken.isEmpty()) {
            close(queue.locked(() -> {
                long now = queue.now();
                Submission.of(taken).stream()
                        .filter(request -> request.isExpired(now))
                        .forEach(queue::expire);
                return taken.stream()
                        .filter(piece -> piece.ended || !piece.isWanted())
                        .toList();
            }));
        }
    }

    @SuppressWarnings("unchecked") // Nobody but the predictor looks at a state that it has made.
    private void close(List<Piece<I, O>> over) {
        over.stream().filter(piece -> piece.hasBegun).forEach(piece -> {
            metrics.streams().streams.decrementAndGet();
            piece.trace.close();
            try {
                ((Predictor.InSteps<I, O, Object>) predictor).end(piece.state());
            } catch (Throwable e) {
                metrics.caught(e);
                log.warn("{}: the state of a record could not be closed", metrics.model(), Unsaid.of(e));
            }
        });
        queue.locked(() -> over.forEach(piece -> {
            taken.remove(piece);
            piece.request.leaveWorker();
        }));
    }

    /// Stands on the log lines that are not of a batch.
    private Map<String, String> logContext() {
        return Map.of(ModelMetrics.LABEL, metrics.model());
    }

    /// Its predictor is of no use any more: all that it has taken fails, and with the last worker every
    /// open request.
    private void lose(Throwable cause) {
        Submission.of(taken).forEach(request -> queue.end(request, cause));
        isRetired = true;
        queue.countWorkers();
    }

    private void leave() {
        if (isStuck) {
            isStuck = false;
            countStuck(-1);
        }
        isInTurn = false;
        turn = null;
        thread = null;
    }

    private void countStuck(int more) {
        queue.pool.stuck.addAndGet(more);
        metrics.stuckHooks.addAndGet(more);
        queue.countWorkers();
    }

    /// A prediction that has not ended `grace` after the deadline of all its requests is stuck: its worker
    /// counts as lost until it ends. The lock is held, as in what follows but [#close()].
    ///
    /// @return its thread, where it is stuck and was not known to be
    Optional<Thread> findStuck(Duration grace) {
        if (isStuck
                || running.filter(batch -> batch.isOverdue(queue.now(), grace.toNanos()))
                        .isEmpty()) {
            return Optional.empty();
        }
        giveUp();
        return Optional.of(thread);
    }

    private void giveUp() {
        isStuck = true;
        countStuck(1);
        if (turn != null) {
            turn.leavePlace();
        }
    }

    /// Takes no more. Its predictor is closed at the end of its turn, or on a thread that waits for no turn
    /// of others.
    void retire() {
        if (isRetired) {
            return;
        }
        isRetired = true;
        queue.countWorkers();
        later.cancel(false);
        if (thread == null) {
            try {
                thread = queue.pool.start(this::free);
            } catch (OutOfMemoryError e) {
                // There is no memory for a thread.
                metrics.caught(e);
                queue.afterwards(this::free);
            }
        }
    }

    private void free() {
        close();
        queue.locked(this::leave);
        queue.open.countDown();
    }

    /// Closes the predictor, once. No other thread may be inside.
    void close() {
        close(List.copyOf(taken));
        try {
            predictor.close();
        } catch (Throwable e) {
            log.warn("{}: the predictor of worker {} could not be closed", metrics.model(), number, e);
        }
    }

    /// Counts as stuck if it still runs.
    void leaveBehind() {
        if (thread != null && !isStuck) {
            giveUp();
        }
    }
}
