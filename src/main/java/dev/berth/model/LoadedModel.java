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
import java.util.OptionalLong;
import java.util.concurrent.ExecutionException;
import java.util.function.BooleanSupplier;

/// Hooks with a batcher and its workers: the way of a request through `inputFn`, the queue, `predictFn` and `outputFn`.
///
/// [#invoke] runs on the request's virtual thread. Hooks run outside of every lock.
final class LoadedModel<M, I, O> {

  private final InferenceHandler<M, I, O> handler;
  private final HookNames names;
  private final Batcher<I, O> batcher;
  private final HookPermits permits;
  private final PayloadMemory memory;
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
      PayloadMemory memory,
      ServingMetrics metrics)
      throws InterruptedException, ExecutionException {
    var distinct = accelerators.stream().distinct().toList();
    var names = HookNames.of(handler);
    var batcher = new Batcher<I, O>(
        name,
        names.predictFn(),
        accelerators.size(),
        limits,
        record -> hook(names.length(), "a length", () -> handler.length(record)),
        worker -> predictor(handler, new ModelContext(directory, accelerators.get(worker), worker, distinct)),
        metrics);
    batcher.start();
    return new LoadedModel<>(handler, names, batcher, permits, memory, metrics);
  }

  private LoadedModel(
      InferenceHandler<M, I, O> handler,
      HookNames names,
      Batcher<I, O> batcher,
      HookPermits permits,
      PayloadMemory memory,
      ServingMetrics metrics) {
    this.handler = handler;
    this.names = names;
    this.batcher = batcher;
    this.permits = permits;
    this.memory = memory;
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
  Invocation invoke(InvocationRequest request, OptionalLong length, long deadlineNanos, BooleanSupplier abandoned) {
    try (var share = memory.new Share()) {
      var body = new HookBody(request.body(), length, permits, share, deadlineNanos);
      return invoke(request.withBody(body), body, deadlineNanos, abandoned);
    }
  }

  private Invocation invoke(InvocationRequest request, HookBody body, long deadlineNanos, BooleanSupplier abandoned) {
    var decode = Stopwatch.start();
    List<I> records = hook(names.inputFn(), "a list of records", () ->
        permits.call(
            () -> body.isWaiting() ? "the rest of its body was awaited" : names.inputFn() + " ran",
            deadlineNanos,
            () -> handler.inputFn(request)));
    var decoded = decode.elapsed();
    metrics.decoded(decoded);

    var predictions = hook(names.predictFn(), "a list of predictions", () ->
        batcher.predict(records, deadlineNanos, abandoned));

    var encode = Stopwatch.start();
    InvocationResponse response = hook(names.outputFn(), "a response", () ->
        permits.call(() -> names.outputFn() + " ran", deadlineNanos, () -> handler.outputFn(predictions.values(), request)));
    var encoded = encode.elapsed();
    metrics.encoded(encoded);
    return new Invocation(
        response, records.size(), decoded, predictions.queued(), predictions.predicted(), encoded);
  }

  /// Fails what is still queued or running and stops the workers, which close their models.
  ///
  /// @return whether all of them did
  boolean stopWorkers() {
    batcher.close();
    return batcher.liveWorkers() == 0;
  }

  /// Frees what the hooks share. No worker and no request may be inside.
  void closeHooks() throws Exception {
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
