package dev.berth.batching;

import dev.berth.error.ErrorType;
import dev.berth.error.Unsaid;
import dev.berth.hooks.ModelUnusableException;
import dev.berth.hooks.PartStream;
import dev.berth.metrics.ModelMetrics;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SequencedSet;
import java.util.concurrent.atomic.AtomicBoolean;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.slf4j.MDC;

/// One worker of one model: its predictor, and what it has taken from the queue. The lock is never
/// held while the predictor runs.
///
/// Each turn takes pieces that wait, as many as there is room for, and has the predictor make one step
/// with those that can move. A step predicts them, or where the predictor is a [StepPredictor] gives
/// the next part of each (continuous batching). Such a piece whose reader does not keep up, or that
/// pauses, leaves its place in the batch to others and keeps its state.
///
/// What a predictor throws has no effect on later batches.
final class Runner<I, O> {

    private static final Logger log = LoggerFactory.getLogger(Runner.class);

    final int worker;
    private final BatchQueue<I, O> queue;
    private final String hook;
    private final ModelMetrics metrics;
    private final Predictor<I, O> predictor;

    /// The predictor, where it predicts in steps.
    private final Optional<StepPredictor<I, O, Object>> steps;

    private final AtomicBoolean closed = new AtomicBoolean();

    /// The pieces that it has taken and is not done with, the one whose turn it is first. Guarded by
    /// the lock of the queue, but the turn that runs, which alone changes it, reads it without.
    final SequencedSet<Piece<I, O>> taken = new LinkedHashSet<>();

    /// @param worker the number of the one worker that calls [#predictWhatWaits]
    /// @param hook the name of the predictor, for messages
    @SuppressWarnings("unchecked") // Nobody but the predictor looks at a state that it has made.
    Runner(int worker, Predictor<I, O> predictor, String hook, BatchQueue<I, O> queue) {
        this.worker = worker;
        this.predictor = predictor;
        this.hook = hook;
        this.queue = queue;
        this.metrics = queue.metrics;
        this.steps = predictor instanceof StepPredictor<I, O, ?> inSteps
                ? Optional.of((StepPredictor<I, O, Object>) inSteps)
                : Optional.empty();
        steps.ifPresent(_ -> queue.predictInSteps());
    }

    /// In how long there is something to do on this worker; zero or less: now; [Long#MAX_VALUE]: never.
    /// The lock is held.
    long ripeInNanos() {
        long now = queue.now();
        return taken.stream()
                .mapToLong(piece -> piece.ripeInNanos(now))
                .reduce(canTake() ? queue.ripeInNanos() : Long.MAX_VALUE, Math::min);
    }

    /// Whether something waits that it has room for. The lock is held.
    boolean canTake() {
        return queue.hasLine() && room() > 0;
    }

    /// How many pieces it takes now. One after the other where they are predicted in steps: they need
    /// not be of one bucket.
    private int room() {
        if (steps.isEmpty()) {
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

    /// Takes what waits, predicts it and says what became of it. Called without the lock. It throws
    /// where the predictor is of no use any more.
    void predictWhatWaits() {
        closeOver();
        while (take()) {
            // As many as there is room for.
        }
        step(taken);
        closeOver();
    }

    private boolean take() {
        int room = room();
        var pieces = room == 0 ? List.<Piece<I, O>>of() : queue.take(room);
        if (pieces.isEmpty()) {
            return false;
        }
        queue.locked(() -> pieces.forEach(piece -> {
            taken.addLast(piece);
            piece.request.countInside(1);
        }));
        return true;
    }

    /// Makes a step with those pieces that can move. Those that were given something keep it. After a
    /// failure the others are tried by themselves, so that only the culprit fails.
    private void step(Collection<Piece<I, O>> pieces) {
        var batch = queue.locked(() -> {
            var begun = new Batch<>(moving(pieces), taken, queue.now());
            if (begun.size() > 0) {
                queue.begin(worker, begun);
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

    /// Runs a batch that has begun, to its end.
    ///
    /// @return what was thrown
    /// @throws ModelUnusableException where the predictor is of no use any more
    private Optional<Throwable> run(Batch<I, O> batch) {
        batch.pieces.forEach(Piece::beginStep);
        try {
            if (steps.isPresent()) {
                stepAll(batch, steps.get());
            } else {
                predictAll(batch);
            }
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
            queue.locked(() -> queue.finish(worker));
        }
    }

    private void predictAll(Batch<I, O> batch) throws Exception {
        MDC.setContextMap(batch.logContext());
        long start = queue.now();
        var trace = batch.trace("batch", worker);
        var step = trace.step("predictFn");
        try {
            var values = Predictor.checked(predictor.predict(batch.records()), batch.size());
            for (int i = 0; i < values.size(); i++) {
                batch.pieces.get(i).emit(values.get(i));
                batch.pieces.get(i).end();
            }
        } catch (Throwable e) {
            step.failed(e);
            trace.failed(e);
            throw e;
        } finally {
            step.close();
            trace.close();
            metrics.batchPredicted(
                    batch.size(), batch.lengths(), batch.paddedLengths(), Duration.ofNanos(queue.now() - start));
        }
    }

    private void stepAll(Batch<I, O> batch, StepPredictor<I, O, Object> predictor) throws Exception {
        var streams = new ArrayList<PartStream<Object, O>>();
        for (var piece : batch.pieces) {
            if (piece.hasBegun || begin(piece, batch, predictor)) {
                streams.add(piece);
            }
        }
        if (streams.isEmpty()) {
            return;
        }
        MDC.setContextMap(batch.logContext());
        long start = queue.now();
        try {
            predictor.step(streams);
        } finally {
            metrics.streams().stepped(streams.size(), Duration.ofNanos(queue.now() - start));
        }
    }

    /// Begins a record; false: it has failed. An interrupt fails the batch, which says whom it was for.
    private boolean begin(Piece<I, O> piece, Batch<I, O> batch, StepPredictor<I, O, Object> predictor)
            throws Exception {
        var alone = new Batch<>(List.of(piece), taken, queue.now());
        var trace = alone.trace("stream", worker);
        MDC.setContextMap(alone.logContext());
        try {
            piece.begin(predictor.begin(piece.value), trace);
            metrics.streams().streams.incrementAndGet();
            return true;
        } catch (Throwable e) {
            trace.failed(e);
            trace.close();
            if (batch.isInterrupted() || e instanceof ModelUnusableException) {
                throw e;
            }
            metrics.caught(e);
            piece.moved = true;
            piece.failure = e;
            return false;
        }
    }

    /// Of a record that has failed by itself. It may have been interrupted because others waited for it.
    private Throwable failure(Batch<I, O> failed, Throwable cause) {
        return failed.isInterrupted()
                ? ErrorType.DEADLINE_EXCEEDED.because(
                        "%s took %.1f s for one record while others waited for it"
                                .formatted(hook, (queue.now() - failed.startedAt) / 1e9),
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
                taken.stream()
                        .map(piece -> piece.request)
                        .filter(request -> request.isExpired(now))
                        .forEach(queue::expire);
                return taken.stream()
                        .filter(piece -> piece.ended || !piece.isWanted())
                        .toList();
            }));
        }
    }

    private void close(List<Piece<I, O>> over) {
        over.stream().filter(piece -> piece.hasBegun).forEach(piece -> {
            metrics.streams().streams.decrementAndGet();
            piece.trace.close();
            try {
                steps.orElseThrow().end(piece.state());
            } catch (Throwable e) {
                metrics.caught(e);
                log.warn("{}: the state of a record could not be closed", metrics.model(), Unsaid.of(e));
            }
        });
        queue.locked(() -> over.forEach(piece -> {
            taken.remove(piece);
            piece.request.countInside(-1);
        }));
    }

    /// Frees the model. No worker may be inside, but the calling one. Only the first call has an
    /// effect.
    void close() {
        if (closed.compareAndSet(false, true)) {
            close(List.copyOf(taken));
            try {
                predictor.close();
            } catch (Throwable e) {
                log.warn("{}: the predictor of worker {} could not be closed", metrics.model(), worker, e);
            }
        }
    }

    /// Stands on the log lines that are not of a batch.
    Map<String, String> logContext() {
        return Map.of(ModelMetrics.LABEL, metrics.model());
    }
}
