package dev.berth.batching;

import dev.berth.batching.Submission.Pending;
import dev.berth.telemetry.Step;
import java.time.Duration;
import java.util.List;
import org.slf4j.MDC;

/// Runs the batches of a model that one worker takes, on that worker's predictor. What a predictor
/// throws has no effect on later batches.
final class BatchRunner<I, O> extends Runner<I, O> {

    private final Predictor<I, O> predictor;

    /// The pieces of the batch that it has taken, also while they are tried one by one.
    private volatile List<Pending<I, O>> taken = List.of();

    BatchRunner(Batcher<I, O> model, int worker, Predictor<I, O> predictor) {
        super(model, worker, predictor);
        this.predictor = predictor;
    }

    @Override
    void predictWhatWaits() {
        queue.take(this).ifPresent(batch -> {
            taken = batch.pending;
            predict(batch);
            taken = List.of();
        });
    }

    @Override
    List<Pending<I, O>> held() {
        return taken;
    }

    private void predict(Batch<I, O> batch) {
        List<O> values;
        MDC.setContextMap(batch.logContext());
        try (var trace = batch.trace("batch")) {
            values = call(batch, trace);
        } catch (WorkerLostException e) {
            throw e;
        } catch (Throwable e) {
            queue.metrics.caught(e);
            queue.stop(batch);
            if (batch.size() == 1) {
                queue.locked(() -> queue.end(batch.pending.getFirst().submission(), late(batch, e)));
            } else {
                retryEach(batch.pending, e);
            }
            return;
        } finally {
            MDC.setContextMap(logContext());
        }
        queue.answer(batch, values);
    }

    /// Tries the records of a failed batch one by one, so that only the culprit's request fails.
    private void retryEach(List<Pending<I, O>> pieces, Throwable cause) {
        if (pieces.stream().anyMatch(piece -> !piece.submission().hasEnded())) {
            sayRetried("batch", pieces, cause);
        }
        for (var piece : pieces) {
            queue.retry(piece, this).ifPresent(this::predict);
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
