package dev.berth.batching;

import dev.berth.metrics.ModelMetrics;
import dev.berth.telemetry.Step;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.LongSupplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.slf4j.MDC;

/// Runs the batches of a model that one worker takes, on that worker's predictor.
///
/// After a [WorkerLostException] it takes no more. Nothing else that a predictor throws has an
/// effect on later batches. The lock is never held while the predictor runs.
final class BatchRunner<I, O> implements Runner {

  private static final Logger log = LoggerFactory.getLogger(BatchRunner.class);

  private final String name;
  private final int worker;
  private final Predictor<I, O> predictor;
  private final BatchQueue<I, O> queue;
  private final LongSupplier clock;
  private final ModelMetrics metrics;

  /// Stands on the log lines that are not of a batch.
  private final Map<String, String> logContext;

  private final AtomicBoolean closed = new AtomicBoolean();

  /// @param name the model's, for the log
  /// @param worker the number of the one worker that calls this
  BatchRunner(
      String name,
      int worker,
      Predictor<I, O> predictor,
      BatchQueue<I, O> queue,
      LongSupplier clock,
      ModelMetrics metrics) {
    this.name = name;
    this.worker = worker;
    this.predictor = predictor;
    this.queue = queue;
    this.clock = clock;
    this.metrics = metrics;
    this.logContext = Map.of(ModelMetrics.LABEL, name);
  }

  @Override
  public int worker() {
    return worker;
  }

  @Override
  public void serve() {
    MDC.setContextMap(logContext);
    try {
      queue.take(worker).ifPresent(this::predict);
      if (queue.isClosed()) {
        close();
      }
    } catch (Throwable e) {
      metrics.caught(e);
      log.error("{}: worker {} can't predict any more", name, worker, e);
      queue.leave(worker);
      close();
    } finally {
      MDC.clear();
    }
  }

  /// Predicts a batch and says what became of it, whatever happens.
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
      metrics.caught(e);
      if (batch.size() == 1) {
        queue.fail(batch, e);
      } else if (queue.release(batch)) {
        retryEach(batch.pending(), e);
      }
      return;
    } finally {
      MDC.setContextMap(logContext);
    }
    queue.answer(batch, values);
  }

  /// Tries the records of a failed batch one by one, so that only the culprit's request fails.
  private void retryEach(List<Pending<I, O>> records, Throwable cause) {
    log.warn(
        "{}: a batch of {} records failed with {}; trying each by itself",
        name,
        records.size(),
        cause.toString());
    for (var record : records) {
      queue.retry(record, worker).ifPresent(this::predict);
    }
  }

  private List<O> call(Batch<I, O> batch, Step trace) throws Exception {
    long start = clock.getAsLong();
    var step = trace.step("predictFn");
    try {
      return Predictor.checked(predictor.predict(batch.records()), batch.size());
    } catch (Throwable e) {
      step.failed(e);
      trace.failed(e);
      throw e;
    } finally {
      step.close();
      metrics.batchPredicted(
          batch.size(),
          batch.lengths(),
          batch.paddedLengths(),
          Duration.ofNanos(clock.getAsLong() - start));
    }
  }

  @Override
  public void close() {
    if (closed.compareAndSet(false, true)) {
      try {
        predictor.close();
      } catch (Throwable e) {
        log.warn("{}: the predictor of worker {} could not be closed", name, worker, e);
      }
    }
  }

  @Override
  public boolean isClosed() {
    return closed.get();
  }
}
