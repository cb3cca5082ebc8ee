package dev.berth.batching;

import dev.berth.batching.Submission.Pending;
import dev.berth.telemetry.Step;
import java.time.Duration;
import java.util.List;
import org.slf4j.MDC;

/// Runs the batches of a model that one worker takes, on that worker's predictor. What a predictor
/// throws has no effect on later batches.
final class BatchRunner<I, O> extends Runner<I, O> {

    private final BatchQueue<I, O> queue;
    private final Predictor<I, O> predictor;

    BatchRunner(BatchQueue<I, O> queue, int worker, Predictor<I, O> predictor) {
        super(queue.name, worker, predictor);
        this.queue = queue;
        this.predictor = predictor;
    }

    @Override
    void predictWhatWaits() {
        queue.take(worker).ifPresent(this::predict);
    }

    private void predict(Batch<I, O> batch) {
        try {
            attempt(batch);
        } catch (Throwable e) {
            queue.fail(batch, e);
            throw e;
        }
    }

    private void attempt(Batch<I, O> batch) {
        List<O> values;
        MDC.setContextMap(batch.logContext());
        try (var trace = batch.trace("batch")) {
            values = call(batch, trace);
        } catch (WorkerLostException e) {
            throw e;
        } catch (Throwable e) {
            queue.metrics.caught(e);
            if (batch.size() == 1) {
                queue.fail(batch, e);
            } else if (queue.release(batch)) {
                retryEach(batch.pending, e);
            }
            return;
        } finally {
            MDC.setContextMap(logContext());
        }
        queue.answer(batch, values);
    }

    /// Tries the records of a failed batch one by one, so that only the culprit's request fails.
    private void retryEach(List<Pending<I, O>> records, Throwable cause) {
        sayRetried("batch", records, cause);
        for (var record : records) {
            queue.retry(record, worker).ifPresent(this::predict);
        }
    }

    private List<O> call(Batch<I, O> batch, Step trace) throws Exception {
        long start = queue.clock.getAsLong();
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
                    batch.size(),
                    batch.lengths(),
                    batch.paddedLengths(),
                    Duration.ofNanos(queue.clock.getAsLong() - start));
        }
    }
}
