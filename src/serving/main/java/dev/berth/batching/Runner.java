package dev.berth.batching;

import dev.berth.batching.Submission.Pending;
import dev.berth.error.ErrorType;
import dev.berth.error.Unsaid;
import dev.berth.metrics.ModelMetrics;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicBoolean;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

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

    /// Whether a prediction does not end.
    boolean isStuck;

    /// Whether it takes no more: its model is closed, or its predictor of no use.
    boolean isRetired;

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

    /// What it has taken and has not ended, and is in no batch of its own. Called with the lock.
    abstract List<Pending<I, O>> held();

    final boolean holds(Submission<I, O> request) {
        return held().stream().anyMatch(piece -> piece.submission() == request);
    }

    void closeWhatIsHeld() {}

    boolean predictsInSteps() {
        return false;
    }

    /// Whether it takes records that wait. The lock is held, as in the next one.
    boolean hasRoom() {
        return true;
    }

    /// In how long it has something to do for records that it has taken; zero or less: now;
    /// [Long#MAX_VALUE]: never.
    long ripeInNanos() {
        return Long.MAX_VALUE;
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
        }
    }

    final boolean isClosed() {
        return closed.get();
    }

    /// Stands on the log lines that are not of a batch.
    final Map<String, String> logContext() {
        return Map.of(ModelMetrics.LABEL, name);
    }

    final void sayRetried(String what, List<?> records, Throwable cause) {
        log.warn(
                "{}: a {} of {} records failed with {}; trying each by itself",
                name,
                what,
                records.size(),
                Unsaid.of(cause).toString());
    }

    /// What is wrong with the only record of a batch that has stopped. It may have been interrupted
    /// because others waited for it.
    final Throwable late(Batch<I, O> batch, Throwable cause) {
        return batch.isTakenApart()
                ? ErrorType.DEADLINE_EXCEEDED.because(
                        "%s took %.1f s for one record while others waited for it"
                                .formatted(hook, (queue.now() - batch.startedAt) / 1e9),
                        cause)
                : cause;
    }
}
