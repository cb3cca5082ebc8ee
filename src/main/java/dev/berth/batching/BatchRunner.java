package dev.berth.batching;

import dev.berth.telemetry.Step;
import java.time.Duration;
import java.util.List;
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
  void predictWhatWaits() {
    model.queue.take(worker).ifPresent(this::predict);
  }

  /// Predicts a batch and says what became of it, whatever happens.
  private void predict(Batch<I, O> batch) {
    try {
      attempt(batch);
    } catch (Throwable e) {
      model.queue.fail(batch, e);
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
      model.metrics.caught(e);
      if (batch.size() == 1) {
        model.queue.fail(batch, e);
      } else if (model.queue.release(batch)) {
        retryEach(batch.pending, e);
      }
      return;
    } finally {
      MDC.setContextMap(logContext());
    }
    model.queue.answer(batch, values);
  }

  /// Tries the records of a failed batch one by one, so that only the culprit's request fails.
  private void retryEach(List<Pending<I, O>> records, Throwable cause) {
    sayRetried(model.name, "batch", records, cause);
    for (var record : records) {
      model.queue.retry(record, worker).ifPresent(this::predict);
    }
  }

  private List<O> call(Batch<I, O> batch, Step trace) throws Exception {
    long start = model.clock.getAsLong();
    var step = trace.step("predictFn");
    try {
      return Predictor.checked(predictor.predict(batch.records()), batch.size());
    } catch (Throwable e) {
      step.failed(e);
      trace.failed(e);
      throw e;
    } finally {
      step.close();
      model.metrics.batchPredicted(
          batch.size(),
          batch.lengths(),
          batch.paddedLengths(),
          Duration.ofNanos(model.clock.getAsLong() - start));
    }
  }
}
