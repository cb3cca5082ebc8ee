package dev.berth.model;

import dev.berth.batching.BatchLimits;
import dev.berth.batching.Batcher;
import dev.berth.batching.Predictor;
import dev.berth.batching.WorkerLostException;
import dev.berth.error.ErrorType;
import dev.berth.error.ServingException;
import dev.berth.hooks.Accelerator;
import dev.berth.hooks.InferenceHandler;
import dev.berth.hooks.InvocationRequest;
import dev.berth.hooks.InvocationResponse;
import dev.berth.hooks.MediaType;
import dev.berth.hooks.ModelContext;
import dev.berth.hooks.ModelUnusableException;
import dev.berth.metrics.ServingMetrics;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.function.BooleanSupplier;

/// Hooks with a batcher and its workers: the way of a request through `inputFn`, the queue, `predictFn` and `outputFn`.
///
/// [#invoke] runs on the request's virtual thread. Hooks run outside of every lock.
final class LoadedModel<M, I, O> {

  private final InferenceHandler<M, I, O> handler;
  private final Batcher<I, O> batcher;
  private final HookPermits permits;
  private final ServingMetrics metrics;

  /// Loads the model on every worker, and returns when all of them are warm.
  ///
  /// @param accelerators one for each worker
  static <M, I, O> LoadedModel<M, I, O> load(
      String name,
      Path directory,
      InferenceHandler<M, I, O> handler,
      List<Accelerator> accelerators,
      BatchLimits limits,
      HookPermits permits,
      ServingMetrics metrics)
      throws InterruptedException, ExecutionException {
    var batcher = new Batcher<I, O>(
        name,
        accelerators.size(),
        limits,
        handler::length,
        worker -> predictor(handler, new ModelContext(directory, accelerators.get(worker), worker)),
        metrics);
    batcher.start();
    return new LoadedModel<>(handler, batcher, permits, metrics);
  }

  private LoadedModel(
      InferenceHandler<M, I, O> handler, Batcher<I, O> batcher, HookPermits permits, ServingMetrics metrics) {
    this.handler = handler;
    this.batcher = batcher;
    this.permits = permits;
    this.metrics = metrics;
  }

  List<MediaType> requestTypes() {
    return handler.requestTypes();
  }

  List<MediaType> responseTypes() {
    return handler.responseTypes();
  }

  int liveWorkers() {
    return batcher.liveWorkers();
  }

  /// @throws ServingException for every way in which this can fail
  Invocation invoke(InvocationRequest request, long deadlineNanos, BooleanSupplier abandoned) {
    var decode = Stopwatch.start();
    var hookRequest = new InvocationRequest(
        permits.yielding(request.body()),
        request.contentType(),
        request.accept(),
        request.customAttributes(),
        request.inferenceId(),
        request.keepBadRecords());
    List<I> records = hook("inputFn", "a list of records", () ->
        permits.call(deadlineNanos, () -> handler.inputFn(hookRequest)));
    var decoded = decode.elapsed();
    metrics.decoded(decoded);

    var predictions = hook("predictFn", "a list of predictions", () ->
        batcher.predict(records, deadlineNanos, abandoned));

    var encode = Stopwatch.start();
    InvocationResponse response = hook("outputFn", "a response", () ->
        permits.call(deadlineNanos, () -> handler.outputFn(predictions.values(), hookRequest)));
    var encoded = encode.elapsed();
    metrics.encoded(encoded);
    return new Invocation(
        response, records.size(), decoded, predictions.queued(), predictions.predicted(), encoded);
  }

  /// Refuses new work, lets what is there finish within `drain`, stops the workers and closes the hooks.
  void close(Duration drain) throws Exception {
    batcher.close(drain);
    if (handler instanceof AutoCloseable closeable) {
      closeable.close();
    }
  }

  private static <M, I, O> Predictor<I, O> predictor(InferenceHandler<M, I, O> handler, ModelContext context)
      throws Exception {
    var model = handler.modelFn(context);
    handler.warmUpFn(model);
    return new Predictor<>() {
      @Override
      public List<O> predict(List<I> records) throws Exception {
        try {
          return handler.predictFn(records, model);
        } catch (ModelUnusableException e) {
          throw new WorkerLostException(e.getMessage(), e);
        }
      }

      @Override
      public void close() throws Exception {
        if (model instanceof AutoCloseable closeable) {
          closeable.close();
        }
      }
    };
  }

  private static <T> T hook(String name, String expected, HookCall<T> call) {
    try {
      var result = call.run();
      if (result == null) {
        throw new ServingException(ErrorType.INTERNAL, "%s returned null, expected %s".formatted(name, expected));
      }
      return result;
    } catch (Throwable e) {
      throw HookFailure.of(name, e);
    }
  }

  /// A hook, with whatever it throws.
  private interface HookCall<T> {
    T run() throws Throwable;
  }

  private record Stopwatch(long startNanos) {
    static Stopwatch start() {
      return new Stopwatch(System.nanoTime());
    }

    Duration elapsed() {
      return Duration.ofNanos(System.nanoTime() - startNanos);
    }
  }
}
