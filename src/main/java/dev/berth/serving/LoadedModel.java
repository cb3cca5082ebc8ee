package dev.berth.serving;

import dev.berth.artifact.code.HookCode;
import dev.berth.batching.BatchLimits;
import dev.berth.batching.Batcher;
import dev.berth.error.ErrorType;
import dev.berth.error.ServingException;
import dev.berth.hooks.Accelerator;
import dev.berth.hooks.InferenceHandler;
import dev.berth.hooks.InvocationRequest;
import dev.berth.hooks.MediaType;
import dev.berth.hooks.ModelContext;
import dev.berth.metrics.ServingMetrics;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;

/// Hooks with a batcher and its workers: the way of a request through `inputFn`, the queue, `predictFn` and `outputFn`.
///
/// [#invoke] is called on the request's virtual thread. Hooks run outside of every lock.
final class LoadedModel<M, I, O> {

  private final InferenceHandler<M, I, O> handler;
  private final HookNames names;
  private final Batcher<Measured<I>, O> batcher;
  private final HookThreads threads;
  private final HookPermits permits;
  private final PayloadMemory memory;
  private final ServingMetrics metrics;
  private final List<MediaType> requestTypes;
  private final List<MediaType> responseTypes;

  /// Loads the model on every worker, and returns when all of them are warm.
  ///
  /// @param accelerators one for each worker
  /// @throws ExecutionException with the [LoadException] of a worker
  static <M, I, O> LoadedModel<M, I, O> load(
      String name,
      Path directory,
      InferenceHandler<M, I, O> handler,
      List<Accelerator> accelerators,
      BatchLimits limits,
      HookPermits permits,
      PayloadMemory memory,
      ServingMetrics metrics)
      throws InterruptedException, ExecutionException, LoadException {
    var distinct = accelerators.stream().distinct().toList();
    var names = HookNames.of(handler);
    var batcher = new Batcher<Measured<I>, O>(
        name,
        names.predictFn(),
        accelerators.size(),
        limits,
        Measured::length,
        worker ->
            HookPredictor.open(handler, names, new ModelContext(directory, accelerators.get(worker), worker, distinct)),
        metrics);
    batcher.start();
    try {
      return new LoadedModel<>(handler, names, batcher, permits, memory, metrics);
    } catch (LoadException e) {
      batcher.close();
      throw e;
    }
  }

  private LoadedModel(
      InferenceHandler<M, I, O> handler,
      HookNames names,
      Batcher<Measured<I>, O> batcher,
      HookPermits permits,
      PayloadMemory memory,
      ServingMetrics metrics)
      throws LoadException {
    this.handler = handler;
    this.names = names;
    this.batcher = batcher;
    this.threads = new HookThreads(handler.getClass().getClassLoader());
    this.permits = permits;
    this.memory = memory;
    this.metrics = metrics;
    // Asked once and not for each request, none of which it can hold up then.
    this.requestTypes = types(names.requestTypes(), handler::requestTypes);
    this.responseTypes = types(names.responseTypes(), handler::responseTypes);
  }

  List<MediaType> requestTypes() {
    return requestTypes;
  }

  List<MediaType> responseTypes() {
    return responseTypes;
  }

  int liveWorkers() {
    return batcher.liveWorkers();
  }

  /// @throws ServingException for every way in which this can fail
  Invocation invoke(InvocationRequest request, OptionalLong length, long deadlineNanos, BooleanSupplier abandoned) {
    batcher.requireRoom(deadlineNanos);
    try (var share = memory.new Share()) {
      var body = new HookBody(request.body(), length, permits, share, deadlineNanos);
      var running = new AtomicReference<>(names.inputFn());
      return hook(running::get, "an answer", () ->
          threads.call(
              () -> activity(running.get(), body),
              deadlineNanos,
              () -> invoke(request.withBody(body), running, deadlineNanos, abandoned)));
    }
  }

  /// What a request's time ran out with; nothing where the batcher says it.
  private Optional<String> activity(String running, HookBody body) {
    if (running.equals(names.predictFn())) {
      return Optional.empty();
    }
    return Optional.of(body.isWaiting() ? "the rest of its body was awaited" : running + " ran");
  }

  /// Runs on the request's hook thread.
  ///
  /// @param running is told which hook runs
  private Invocation invoke(
      InvocationRequest request, AtomicReference<String> running, long deadlineNanos, BooleanSupplier abandoned) {
    var decode = Stopwatch.start();
    var measured = hook(running::get, "a list of records", () ->
        permits.during(deadlineNanos, () -> decode(request, running)));
    var decoded = decode.elapsed();
    metrics.decoded(decoded);

    running.set(names.predictFn());
    var predictions = hook(running::get, "a list of predictions", () ->
        batcher.predict(measured, deadlineNanos, abandoned));

    running.set(names.outputFn());
    var encode = Stopwatch.start();
    var response = hook(running::get, "a response", () ->
        permits.during(deadlineNanos, () -> handler.outputFn(predictions.values(), request)));
    var encoded = encode.elapsed();
    metrics.encoded(encoded);
    return new Invocation(
        response, measured.size(), decoded, predictions.queued(), predictions.predicted(), encoded);
  }

  /// @param running is told which hook runs
  private List<Measured<I>> decode(InvocationRequest request, AtomicReference<String> running) throws Exception {
    var records = handler.inputFn(request);
    if (records == null) {
      return null;
    }
    running.set(names.length());
    var measured = new ArrayList<Measured<I>>(records.size());
    for (var record : records) {
      if (record == null) {
        throw new ServingException(ErrorType.INTERNAL, "%s returned null as record %d of %d, expected a record"
            .formatted(names.inputFn(), measured.size() + 1, records.size()));
      }
      measured.add(new Measured<>(record, length(record)));
    }
    return measured;
  }

  private int length(I record) {
    int length = handler.length(record);
    if (length < 0) {
      throw new ServingException(
          ErrorType.INTERNAL, "%s returned %d, expected a positive number".formatted(names.length(), length));
    }
    return length;
  }

  /// Fails what is still queued or running and stops the workers, which close their models.
  ///
  /// @return whether all of them did
  boolean stopWorkers() {
    batcher.close();
    return batcher.liveWorkers() == 0;
  }

  /// Waits for hooks that requests have left behind; false: the time is over.
  boolean awaitHooks(Duration time) throws InterruptedException {
    return threads.awaitNone(time);
  }

  /// Frees what the hooks share, and their classes. No worker, no request and no hook may be inside.
  void closeHooks() throws Exception {
    HookCode.close(handler);
  }

  private static List<MediaType> types(String hook, Callable<List<MediaType>> call) throws LoadException {
    var types = LoadException.during(hook, call);
    if (types == null || types.stream().anyMatch(Objects::isNull)) {
      throw new LoadException("%s returned %s, expected a list of media types".formatted(hook, types));
    }
    return List.copyOf(types);
  }

  /// @param running the hook that runs when something is wrong
  private static <T> T hook(Supplier<String> running, String expected, HookCall<T> call) {
    try {
      var result = call.run();
      if (result == null) {
        throw new ServingException(ErrorType.INTERNAL, "%s returned null, expected %s".formatted(running.get(), expected));
      }
      return result;
    } catch (Throwable e) {
      throw HookFailure.of(running.get(), e);
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
