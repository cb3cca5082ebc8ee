package dev.berth.batching;

import dev.berth.batching.Submission.Pending;
import dev.berth.error.ErrorType;
import dev.berth.error.Unsaid;
import dev.berth.hooks.ModelUnusableException;
import dev.berth.metrics.ModelMetrics;
import java.util.Collection;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.atomic.AtomicBoolean;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.slf4j.MDC;

/// One worker of one model: its predictor, and what it has taken from the queue. The lock is never
/// held while the predictor runs.
abstract class Runner<I, O> {

    private static final Logger log = LoggerFactory.getLogger(Runner.class);

    final BatchQueue<I, O> queue;
    final int worker;
    final String name;
    private final String hook;
    private final Predictor<I, O> predictor;
    private final AtomicBoolean closed = new AtomicBoolean();

    // Guarded by the lock of the WorkerPool.

    /// The thread that is in [#predictWhatWaits]; null where none is.
    Thread inside;

    /// Since when it is.
    long insideSince;

    /// Whether a prediction does not end.
    boolean isStuck;

    /// Whether it takes no more: its model is closed, or its predictor of no use.
    boolean isRetired;

    /// What the predictor has at the moment; null: nothing.
    Batch<I, O> batch;

    /// The pieces that it has taken and is not done with.
    final Set<Pending<I, O>> taken = new LinkedHashSet<>();

    /// @param worker the number of the one worker that calls [#predictWhatWaits]
    Runner(Batcher<I, O> model, int worker, Predictor<I, O> predictor) {
        this.queue = model.queue;
        this.name = model.name;
        this.hook = model.predictor;
        this.worker = worker;
        this.predictor = predictor;
    }

    /// Takes what waits, predicts it and says what became of it. Called without the lock. It throws
    /// where the predictor is of no use any more.
    abstract void predictWhatWaits();

    void closeWhatIsHeld() {}

    /// How many records it takes at once. The lock is held, as in the next one.
    abstract int room();

    /// In how long it has something to do for records that it has taken; zero or less: now;
    /// [Long#MAX_VALUE]: never.
    long ripeInNanos() {
        return Long.MAX_VALUE;
    }

    final void take(Collection<Pending<I, O>> pieces) {
        taken.addAll(pieces);
        pieces.forEach(piece -> piece.submission().countInside(1));
    }

    /// Is done with a piece. More calls have no effect.
    final void letGo(Pending<I, O> piece) {
        queue.locked(() -> {
            if (taken.remove(piece)) {
                piece.submission().countInside(-1);
            }
        });
    }

    /// Begins a batch of the calling worker, which is interrupted when no request waits for it any
    /// more. [#run] follows.
    final Batch<I, O> begin(List<Pending<I, O>> pieces) {
        return queue.locked(() -> batch = new Batch<>(pieces, queue.now()));
    }

    /// What the predictor is asked for a batch.
    interface Call {
        void run() throws Exception;
    }

    /// Runs a batch that has begun, to its end.
    ///
    /// @param what it is, for the log
    /// @return what was thrown; null: nothing
    /// @throws ModelUnusableException where the predictor is of no use any more
    final Throwable run(String what, Batch<I, O> begun, Call call) {
        MDC.setContextMap(begun.logContext());
        try {
            call.run();
            return null;
        } catch (ModelUnusableException e) {
            throw e;
        } catch (Throwable e) {
            queue.metrics.caught(e);
            if (begun.size() > 1 && !begun.isUnwanted()) {
                log.warn(
                        "{}: a {} of {} records failed with {}; trying each by itself",
                        name,
                        what,
                        begun.size(),
                        Unsaid.of(e).toString());
            }
            return e;
        } finally {
            MDC.setContextMap(logContext());
            queue.locked(() -> {
                batch = null;
                // An interrupt that has come for the batch ends with it, and none comes after.
                Thread.interrupted();
            });
        }
    }

    /// Interrupts the batch if no request waits for it any more. The lock is held, as in the next one.
    final void interruptIfUnwanted() {
        if (batch != null && batch.isUnwanted()) {
            batch.interrupt();
        }
    }

    /// Interrupts the batch if it has run for as long as the request has left, and the request waits
    /// for records of others in it: one slow record must not take the time of the others.
    final void interruptFor(Submission<I, O> request, long now) {
        if (batch != null
                && now - batch.startedAt >= request.sink.deadlineNanos() - now
                && batch.isOfOthersThan(request)
                && taken.stream().anyMatch(piece -> piece.submission() == request)) {
            batch.interrupt();
        }
    }

    /// Frees the model. No worker may be inside, but the calling one. Only the first call has an
    /// effect.
    final void close() {
        if (closed.compareAndSet(false, true)) {
            closeWhatIsHeld();
            try {
                predictor.close();
            } catch (Throwable e) {
                log.warn("{}: the predictor of worker {} could not be closed", name, worker, e);
            }
            queue.locked(() -> List.copyOf(taken)).forEach(this::letGo);
        }
    }

    final boolean isClosed() {
        return closed.get();
    }

    /// Stands on the log lines that are not of a batch.
    final Map<String, String> logContext() {
        return Map.of(ModelMetrics.LABEL, name);
    }

    /// Fails the request of a record that has failed by itself. It may have been interrupted because
    /// others waited for it.
    final void fail(Batch<I, O> failed, Throwable cause) {
        queue.locked(() -> queue.end(
                failed.pieces.getFirst().submission(),
                failed.isInterrupted()
                        ? ErrorType.DEADLINE_EXCEEDED.because(
                                "%s took %.1f s for one record while others waited for it"
                                        .formatted(hook, (queue.now() - failed.startedAt) / 1e9),
                                cause)
                        : cause));
    }
}
