package dev.berth.batching;

import dev.berth.batching.Submission.Pending;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

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
        queue.take(this).ifPresent(this::predict);
    }

    private void predict(Batch<I, O> batch) {
        var values = new ArrayList<O>(batch.size());
        var failure = run("batch", batch, () -> values.addAll(call(batch)));
        if (failure != null && batch.size() > 1) {
            retryEach(batch.pieces);
            return;
        }
        queue.locked(() -> {
            for (int i = 0; i < values.size(); i++) {
                queue.answer(batch.pieces.get(i), values.get(i));
            }
            if (failure != null) {
                fail(batch, failure);
            }
            batch.pieces.forEach(this::letGo);
        });
    }

    /// Tries the records of a failed batch one by one, so that only the culprit's request fails.
    private void retryEach(List<Pending<I, O>> pieces) {
        for (var piece : pieces) {
            queue.locked(() -> piece.submission().hasEnded()
                            ? Optional.<Batch<I, O>>empty()
                            : Optional.of(begin(List.of(piece))))
                    .ifPresent(this::predict);
            letGo(piece);
        }
    }

    private List<O> call(Batch<I, O> batch) throws Exception {
        long start = queue.now();
        var trace = batch.trace("batch", worker);
        var step = trace.step("predictFn");
        try {
            return Predictor.checked(predictor.predict(batch.records()), batch.size());
        } catch (Throwable e) {
            step.failed(e);
            trace.failed(e);
            throw e;
        } finally {
            step.close();
            trace.close();
            queue.metrics.batchPredicted(
                    batch.size(), batch.lengths(), batch.paddedLengths(), Duration.ofNanos(queue.now() - start));
        }
    }
}
