package dev.berth.batching;

import dev.berth.batching.Submission.Pending;
import dev.berth.hooks.ModelUnusableException;
import dev.berth.telemetry.Step;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import org.slf4j.MDC;

/// Runs the batches of a model that one worker takes, on that worker's predictor. What a predictor
/// throws has no effect on later batches.
final class BatchRunner<I, O> extends Runner<I, O> {

    private final Predictor<I, O> predictor;

    BatchRunner(Batcher<I, O> model, int worker, Predictor<I, O> predictor) {
        super(model, worker, predictor);
        this.predictor = predictor;
    }

    @Override
    int room() {
        return queue.limits.maxBatchSize();
    }

    @Override
    void predictWhatWaits() {
        queue.take(this).ifPresent(batch -> {
            predict(batch);
            batch.pieces.forEach(this::letGo);
        });
    }

    private void predict(Batch<I, O> batch) {
        List<O> values;
        MDC.setContextMap(batch.logContext());
        try (var trace = batch.trace("batch", worker)) {
            values = call(batch, trace);
        } catch (ModelUnusableException e) {
            throw e;
        } catch (Throwable e) {
            queue.metrics.caught(e);
            endBatch();
            if (batch.size() == 1) {
                fail(batch, e);
            } else {
                retryEach(batch.pieces, e);
            }
            return;
        } finally {
            MDC.setContextMap(logContext());
        }
        queue.locked(() -> {
            endBatch();
            queue.answer(batch.pieces, values);
        });
    }

    /// Tries the records of a failed batch one by one, so that only the culprit's request fails.
    private void retryEach(List<Pending<I, O>> pieces, Throwable cause) {
        if (pieces.stream().anyMatch(piece -> !piece.submission().hasEnded())) {
            sayRetried("batch", pieces, cause);
        }
        for (var piece : pieces) {
            queue.locked(() -> piece.submission().hasEnded()
                            ? Optional.<Batch<I, O>>empty()
                            : Optional.of(begin(List.of(piece))))
                    .ifPresent(this::predict);
            letGo(piece);
        }
    }

    private List<O> call(Batch<I, O> batch, Step trace) throws Exception {
        long start = queue.now();
        var step = trace.step("predictFn");
        try {
            return Predictor.checked(predictor.predict(batch.records()), batch.size());
        } catch (Throwable e) {
            step.failed(e);
            trace.failed(e);
            throw e;
        } finally {
            step.close();
            queue.metrics.batchPredicted(
                    batch.size(), batch.lengths(), batch.paddedLengths(), Duration.ofNanos(queue.now() - start));
        }
    }
}
