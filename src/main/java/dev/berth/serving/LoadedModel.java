package dev.berth.serving;

import dev.berth.artifact.code.HookCode;
import dev.berth.batching.BatchLimits;
import dev.berth.batching.Batcher;
import dev.berth.batching.Caller;
import dev.berth.batching.Predictions;
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
import java.util.List;
import java.util.Objects;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicReference;

/// Hooks with a batcher and its workers: the way of a request through `inputFn`, the queue, `predictFn` and `outputFn`.
///
/// [#invoke] is called on the request's thread, which waits for each step in turn. Hooks run outside of every lock.
final class LoadedModel<M, I, O> {

  private static final long LEAST_WAIT_NANOS = TimeUnit.MILLISECONDS.toNanos(1);

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

  /// Answers a request on the calling thread, which waits until it has landed or its time is over.
  ///
  /// @throws ServingException for every way in which this can fail
  Invocation invoke(InvocationRequest request, Caller caller, Deadline deadline) {
    return new Flight(request, caller, deadline).await();
  }

  /// One request on its way: decoded on a thread of the pool, predicted by a worker, encoded on a thread of the pool. Each
  /// step hands over to the next one, and the request's own thread waits for the end.
  private final class Flight {

    private final InvocationRequest request;
    private final Caller caller;
    private final Deadline deadline;
    private final CompletableFuture<Invocation> landed = new CompletableFuture<>();
    /// The hook that is to run or runs, where it is not in the queue.
    private final AtomicReference<HookPool.Run> run = new AtomicReference<>();
    /// Its records, once they are in the queue.
    private volatile Batcher<I, O>.Ticket ticket;
    private int records;
    private Duration decoded;

    Flight(InvocationRequest request, Caller caller, Deadline deadline) {
      this.request = request;
      this.caller = caller;
      this.deadline = deadline;
    }

    Invocation await() {
      // The next hook may be there already.
      run.compareAndSet(null, start(names.inputFn(), this::decode));
      while (true) {
        try {
          return landed.get(patienceNanos(), TimeUnit.NANOSECONDS);
        } catch (TimeoutException e) {
          boolean over = deadline.isOver();
          run.get().hurry();
          var queued = ticket;
          if (queued != null) {
            // If the time is over, this ends the flight.
            queued.ask();
          }
          if (over && !landed.isDone()) {
            throw new ServingException(
                ErrorType.DEADLINE_EXCEEDED, "the request's time ran out while " + run.get().cancel(), e);
          }
        } catch (InterruptedException e) {
          if (ticket != null) {
            ticket.abandon();
          }
          run.get().cancel();
          throw HookFailure.of(names.predictFn(), e);
        } catch (ExecutionException e) {
          throw (ServingException) e.getCause();
        }
      }
    }

    /// Until the deadline, or until something may have kept the request waiting for too long.
    private long patienceNanos() {
      var queued = ticket;
      if (run.get().isWaiting()) {
        return Math.min(deadline.nanosLeft(), HookPool.PATIENCE_NANOS);
      }
      return queued == null ? Math.max(deadline.nanosLeft() / 2, LEAST_WAIT_NANOS) : queued.patienceNanos();
    }

    private HookPool.Run start(String hook, HookCall call) {
      return pool.start(scope, hook, caller.logContext(), deadline, now -> {
        try {
          call.run(now);
        } catch (Throwable e) {
          landed.completeExceptionally(HookFailure.inside(now.hook(), e));
        }
      });
    }

    private void decode(HookPool.Run now) throws Exception {
      long start = System.nanoTime();
      var input = require(handler.inputFn(request), names.inputFn(), "a list of records");
      now.enters(names.length());
      var lengths = lengths(input);
      records = input.size();
      decoded = Duration.ofNanos(System.nanoTime() - start);
      metrics.decoded(decoded);
      if (input.isEmpty()) {
        now.enters(names.outputFn());
        encode(Predictions.none());
      } else {
        ticket = batcher.submit(input, lengths, deadline.nanos(), caller, this::predicted);
      }
    }

    /// Runs on the thread that has ended the request's records, mostly its worker's.
    private void predicted(Batcher<I, O>.Ticket ended) {
      try {
        var predictions = ended.predictions();
        run.set(start(names.outputFn(), _ -> encode(predictions)));
      } catch (Throwable e) {
        landed.completeExceptionally(HookFailure.of(names.predictFn(), e));
      }
    }

    private void encode(Predictions<O> predictions) throws Exception {
      long start = System.nanoTime();
      var response = require(handler.outputFn(predictions.values(), request), names.outputFn(), "a response");
      var encoded = Duration.ofNanos(System.nanoTime() - start);
      metrics.encoded(encoded);
      landed.complete(new Invocation(
          response, records, decoded, predictions.queued(), predictions.predicted(), encoded));
    }
  }

  /// A hook, with whatever it throws.
  private interface HookCall {
    void run(HookPool.Run now) throws Exception;
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
}
