package dev.berth.batching;

import dev.berth.error.Unsaid;
import dev.berth.metrics.ModelMetrics;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicBoolean;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// What one worker predicts with for one model.
///
/// After a [WorkerLostException] it takes no more. The lock is never held while the predictor runs.
abstract class Runner<I, O> {

    private static final Logger log = LoggerFactory.getLogger(Runner.class);

    final String name;
    final int worker;
    private final Predictor<I, O> predictor;
    private final AtomicBoolean closed = new AtomicBoolean();

    /// @param name of the model
    /// @param worker the number of the one worker that calls [#predictWhatWaits]
    Runner(String name, int worker, Predictor<I, O> predictor) {
        this.name = name;
        this.worker = worker;
        this.predictor = predictor;
    }

    /// Takes what waits, predicts it and says what became of it. Called without the lock.
    abstract void predictWhatWaits();

    /// Fails those records that it keeps between two calls of [#predictWhatWaits].
    void failWhatIsHeld(Throwable cause) {}

    void closeWhatIsHeld() {}

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
}
