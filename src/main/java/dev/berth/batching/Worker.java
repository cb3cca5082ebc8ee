package dev.berth.batching;

import dev.berth.metrics.ServingMetrics;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.function.LongSupplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.slf4j.MDC;

/// One platform thread with one predictor: opens it, takes batch after batch, and closes it, all on that thread.
///
/// Nothing that a predictor throws ends the thread but a [WorkerLostException]. The lock is never held while the
/// predictor runs.
final class Worker<I, O> {

  private static final Logger log = LoggerFactory.getLogger(Worker.class);

  private final int number;
  private final PredictorFactory<I, O> factory;
  private final BatchQueue<I, O> queue;
  private final LongSupplier clock;
  private final ServingMetrics metrics;
  private final CompletableFuture<Void> opened = new CompletableFuture<>();
  private final Thread thread;

  Worker(
      String name,
      int number,
      PredictorFactory<I, O> factory,
      BatchQueue<I, O> queue,
      LongSupplier clock,
      ServingMetrics metrics) {
    this.number = number;
    this.factory = factory;
    this.queue = queue;
    this.clock = clock;
    this.metrics = metrics;
    this.thread = Thread.ofPlatform().name("%s-worker-%d".formatted(name, number)).daemon().unstarted(this::live);
  }

  /// Starts the thread and waits until the predictor is open.
  ///
  /// @throws ExecutionException with what the factory threw
  void start() throws InterruptedException, ExecutionException {
    thread.start();
    opened.get();
  }

  /// Waits for the thread's end; false where it does not come in time.
  boolean join(Duration time) throws InterruptedException {
    return !thread.isAlive() || thread.join(time);
  }

  String name() {
    return thread.getName();
  }

  private void live() {
    Predictor<I, O> predictor;
    try {
      if (queue.isClosed()) {
        throw new IllegalStateException("%s was closed while it started".formatted(name()));
      }
      predictor = factory.open(number);
    } catch (Throwable e) {
      opened.completeExceptionally(e);
      return;
    }
    queue.workerJoins();
    opened.complete(null);
    try {
      serve(predictor);
    } catch (Throwable e) {
      metrics.caught(e);
      log.error("{} ends", name(), e);
    } finally {
      queue.workerLeaves();
      close(predictor);
    }
  }

  private void serve(Predictor<I, O> predictor) {
    while (true) {
      try {
        var batch = queue.take(number);
        if (batch.isEmpty()) {
          return;
        }
        predict(predictor, batch.get());
      } catch (InterruptedException _) {
        // The queue interrupts while a batch runs and at no other time: this is a predictor's doing and means nothing.
      }
    }
  }

  /// Predicts a batch and says what became of it, whatever happens.
  private void predict(Predictor<I, O> predictor, Batch<I, O> batch) {
    try {
      attempt(predictor, batch);
    } catch (Throwable e) {
      queue.fail(batch, e);
      throw e;
    }
  }

  private void attempt(Predictor<I, O> predictor, Batch<I, O> batch) {
    List<O> values;
    MDC.setContextMap(batch.logContext());
    try {
      values = call(predictor, batch);
    } catch (WorkerLostException e) {
      throw e;
    } catch (Throwable e) {
      metrics.caught(e);
      if (batch.size() == 1) {
        queue.fail(batch, e);
      } else if (queue.release(batch)) {
        retryEach(predictor, batch.pending(), e);
      }
      return;
    } finally {
      MDC.clear();
    }
    queue.answer(batch, values);
  }

  /// Tries the records of a failed batch one by one, so that only the culprit's request fails.
  private void retryEach(Predictor<I, O> predictor, List<Pending<I, O>> records, Throwable cause) {
    log.warn(
        "{}: a batch of {} records failed with {}; trying each by itself",
        name(), records.size(), cause.getClass().getName());
    for (var record : records) {
      queue.retry(record).ifPresent(alone -> predict(predictor, alone));
    }
  }

  private List<O> call(Predictor<I, O> predictor, Batch<I, O> batch) throws Exception {
    long start = clock.getAsLong();
    try {
      return checked(predictor.predict(batch.records()), batch.size());
    } finally {
      metrics.batchPredicted(
          batch.size(), batch.lengths(), batch.paddedLengths(), Duration.ofNanos(clock.getAsLong() - start));
    }
  }

  /// A copy of the predictions, so that nothing of the predictor's is read under the lock.
  private static <O> List<O> checked(List<O> predictions, int expected) {
    if (predictions == null) {
      throw new IllegalStateException(
          "found null, expected a list of %d predictions, one for each record".formatted(expected));
    }
    var values = new ArrayList<>(predictions);
    if (values.size() != expected) {
      throw new IllegalStateException(
          "found %d predictions, expected %d, one for each record".formatted(values.size(), expected));
    }
    int missing = values.indexOf(null);
    if (missing >= 0) {
      throw new IllegalStateException(
          "found null as prediction %d of %d, expected one for each record"
              .formatted(missing + 1, expected));
    }
    return values;
  }

  private void close(Predictor<I, O> predictor) {
    try {
      predictor.close();
    } catch (Throwable e) {
      log.warn("{}: the predictor could not be closed", name(), e);
    }
  }
}
