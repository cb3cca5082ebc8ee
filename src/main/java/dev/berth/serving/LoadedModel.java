package dev.berth.serving;

import dev.berth.artifact.code.HookCode;
import dev.berth.batching.BatchLimits;
import dev.berth.batching.Batcher;
import dev.berth.batching.Caller;
import dev.berth.error.ErrorType;
import dev.berth.error.ServingException;
import dev.berth.hooks.Accelerator;
import dev.berth.hooks.InferenceHandler;
import dev.berth.hooks.InvocationRequest;
import dev.berth.hooks.InvocationResponse;
import dev.berth.hooks.MediaType;
import dev.berth.hooks.ModelContext;
import dev.berth.metrics.ServingMetrics;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;

/// Hooks with a batcher and its workers: the way of a request through `inputFn`, the queue, `predictFn` and `outputFn`.
///
/// [#invoke] is called on the request's thread, which waits for each step in turn. Hooks run outside of every lock.
final class LoadedModel<M, I, O> {

  private final InferenceHandler<M, I, O> handler;
  private final HookNames names;
  private final Batcher<I, O> batcher;
  private final HookPool pool;
  private final HookPool.Scope scope;
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
      HookPool pool,
      ServingMetrics metrics)
      throws InterruptedException, ExecutionException, LoadException {
    var distinct = accelerators.stream().distinct().toList();
    var names = HookNames.of(handler);
    var batcher = new Batcher<I, O>(
        name,
        names.predictFn(),
        accelerators.size(),
        limits,
        worker ->
            HookPredictor.open(handler, names, new ModelContext(directory, accelerators.get(worker), worker, distinct)),
        System::nanoTime,
        metrics);
    batcher.start();
    try {
      return new LoadedModel<>(handler, names, batcher, pool, metrics);
    } catch (LoadException e) {
      batcher.close();
      throw e;
    }
  }

  private LoadedModel(
      InferenceHandler<M, I, O> handler,
      HookNames names,
      Batcher<I, O> batcher,
      HookPool pool,
      ServingMetrics metrics)
      throws LoadException {
    this.handler = handler;
    this.names = names;
    this.batcher = batcher;
    this.pool = pool;
    this.scope = new HookPool.Scope(handler.getClass().getClassLoader(), new InFlight());
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

  /// @throws ServingException when not even one record could be queued
  void requireRoom(Deadline deadline) {
    batcher.requireRoom(deadline.nanos());
  }

  /// @throws ServingException for every way in which this can fail
  Invocation invoke(InvocationRequest request, Caller caller, Deadline deadline) {
    var decoded = hook(names.inputFn(), () ->
        pool.call(scope, names.inputFn(), caller, deadline, run -> decode(request, run)));
    metrics.decoded(decoded.took());
    var predictions = hook(names.predictFn(), () ->
        batcher.predict(decoded.records(), decoded.lengths(), deadline.nanos(), caller));
    var encoded = hook(names.outputFn(), () ->
        pool.call(scope, names.outputFn(), caller, deadline, _ -> encode(predictions.values(), request)));
    metrics.encoded(encoded.took());
    return new Invocation(
        encoded.response(), decoded.records().size(),
        decoded.took(), predictions.queued(), predictions.predicted(), encoded.took());
  }

  /// @param lengths what each of the records costs in a batch
  private record Decoded<I>(List<I> records, int[] lengths, Duration took) {}

  private record Encoded(InvocationResponse response, Duration took) {}

  private Decoded<I> decode(InvocationRequest request, HookPool.Run run) {
    long start = System.nanoTime();
    try {
      var records = require(handler.inputFn(request), names.inputFn(), "a list of records");
      run.enters(names.length());
      return new Decoded<>(records, lengths(records), Duration.ofNanos(System.nanoTime() - start));
    } catch (Throwable e) {
      throw HookFailure.inside(run.hook(), e);
    }
  }

  private int[] lengths(List<I> records) {
    var lengths = new int[records.size()];
    int next = 0;
    for (var record : records) {
      if (record == null) {
        throw new ServingException(ErrorType.INTERNAL, "%s returned null as record %d of %d, expected a record"
            .formatted(names.inputFn(), next + 1, records.size()));
      }
      lengths[next++] = length(record);
    }
    return lengths;
  }

  private int length(I record) {
    int length = handler.length(record);
    if (length < 0) {
      throw new ServingException(
          ErrorType.INTERNAL, "%s returned %d, expected a positive number".formatted(names.length(), length));
    }
    return length;
  }

  private Encoded encode(List<O> predictions, InvocationRequest request) throws Exception {
    long start = System.nanoTime();
    var response = require(handler.outputFn(predictions, request), names.outputFn(), "a response");
    return new Encoded(response, Duration.ofNanos(System.nanoTime() - start));
  }

  private static <T> T require(T result, String hook, String expected) {
    if (result == null) {
      throw new ServingException(ErrorType.INTERNAL, "%s returned null, expected %s".formatted(hook, expected));
    }
    return result;
  }

  /// Looks for workers whose `predictFn` does not end.
  ///
  /// @return the threads of those that were not known before
  List<Thread> findStuck(Duration grace) {
    return batcher.findStuck(grace);
  }

  String predictFn() {
    return names.predictFn();
  }

  /// Fails what is still queued or running and stops the workers, which close their models.
  ///
  /// @return whether all of them did
  boolean stopWorkers() {
    batcher.close();
    return batcher.hasEnded();
  }

  /// Waits for hooks that requests have left behind; false: the time is over.
  boolean awaitHooks(Duration time) throws InterruptedException {
    return scope.inside().awaitNone(time);
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

  private static <T> T hook(String name, Callable<T> call) {
    try {
      return call.call();
    } catch (Throwable e) {
      throw HookFailure.of(name, e);
    }
  }
}
