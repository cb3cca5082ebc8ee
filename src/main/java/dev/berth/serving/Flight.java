package dev.berth.serving;

import dev.berth.batching.Batcher;
import dev.berth.batching.Caller;
import dev.berth.batching.Pieces;
import dev.berth.batching.Predictions;
import dev.berth.error.ErrorType;
import dev.berth.error.ServingException;
import dev.berth.hooks.InvocationRequest;
import dev.berth.hooks.StreamingHandler;
import dev.berth.memory.RequestMemory;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicReference;

/// One request on its way: decoded on a thread of the pool, predicted by a worker, encoded on a
/// thread of the pool. Each step hands over to the next one, and the request's own thread waits for
/// the end.
final class Flight<I, O> {

  private static final long LEAST_WAIT_NANOS = TimeUnit.MILLISECONDS.toNanos(1);

  /// What a record takes here and in the queue, in bytes.
  private static final long RECORD = 256;

  private final LoadedModel<?, I, O> model;
  private final InvocationRequest request;
  private final Dialect dialect;
  private final Caller caller;
  private final Optional<StreamLimits> streams;
  private final RequestMemory memory;
  private final long begunAt;
  private final CompletableFuture<Answer> landed = new CompletableFuture<>();

  /// Whether the request is in the words of the hooks, and its deadline will not change any more.
  private final CompletableFuture<Void> translated;

  private volatile Deadline deadline;

  /// The hook that is to run or runs, where it is not in the queue.
  private final AtomicReference<HookRun> run = new AtomicReference<>();

  /// The place of its records in the queue, once they are there.
  private volatile Batcher<I, O>.Ticket ticket;

  /// The request in the words of the hooks.
  private InvocationRequest understood;

  private Split<I> split;
  private Duration decoded;

  Flight(
      LoadedModel<?, I, O> model,
      InvocationRequest request,
      Dialect dialect,
      Caller caller,
      Deadline deadline,
      Optional<StreamLimits> streams,
      RequestMemory memory) {
    this.model = model;
    this.request = request;
    this.dialect = dialect;
    this.caller = caller;
    this.deadline = deadline;
    this.streams = streams;
    this.memory = memory;
    this.begunAt = deadline.clock().getAsLong();
    this.translated =
        dialect.equals(Dialect.NONE)
            ? CompletableFuture.completedFuture(null)
            : new CompletableFuture<>();
  }

  Answer await() {
    // The next hook may be there already.
    run.compareAndSet(null, start(model.names.inputFn(), "inputFn", this::decode));
    while (true) {
      try {
        if (translated.isDone()) {
          return landed.get(patienceNanos(), TimeUnit.NANOSECONDS);
        }
        CompletableFuture.anyOf(translated, landed).get(patienceNanos(), TimeUnit.NANOSECONDS);
      } catch (TimeoutException e) {
        boolean over = deadline.isOver();
        var queued = ticket;
        if (queued != null) {
          queued.ask();
        }
        if (over && !landed.isDone()) {
          throw late(queued, e);
        }
      } catch (InterruptedException e) {
        if (ticket != null) {
          ticket.abandon();
        }
        run.get().cancel();
        throw HookFailure.of(model.names.predictFn(), e);
      } catch (ExecutionException e) {
        throw (ServingException) e.getCause();
      }
    }
  }

  /// Whether a hook or a predictor still works for it. One that was left behind may, after the
  /// flight has ended.
  boolean isInside() {
    var last = run.get();
    return (last != null && last.isInside()) || (ticket != null && ticket.isInside());
  }

  /// Ends what still goes on, and says what that was.
  ///
  /// @param queued has ended since it was asked past its deadline; null where the records are not
  ///   in the queue yet
  private ServingException late(Batcher<I, O>.Ticket queued, TimeoutException e) {
    try {
      if (queued != null) {
        queued.predictions();
      }
      return new ServingException(
          ErrorType.DEADLINE_EXCEEDED, "the request's time ran out while " + run.get().cancel(), e);
    } catch (ServingException | ExecutionException ended) {
      return HookFailure.of(model.names.predictFn(), ended);
    }
  }

  /// Until the deadline, or until something may have kept the request waiting for too long.
  private long patienceNanos() {
    var queued = ticket;
    return queued == null
        ? Math.max(deadline.nanosLeft() / 2, LEAST_WAIT_NANOS)
        : queued.patienceNanos();
  }

  /// @param step how the request's trace calls it
  private HookRun start(String hook, String step, HookCall call) {
    return model.pool.start(
        model.scope,
        hook,
        caller.logContext(),
        deadline,
        memory.isLarge(),
        now ->
            memory.run(
                () -> {
                  var trace = caller.trace().step(step);
                  try {
                    call.run(now);
                  } catch (Throwable e) {
                    trace.failed(e);
                    model.metrics.caught(e);
                    landed.completeExceptionally(HookFailure.inside(now.hook(), e));
                  } finally {
                    trace.close();
                  }
                }));
  }

  private void decode(HookRun now) throws Exception {
    long start = System.nanoTime();
    understood = dialect.request(request);
    var left = understood.remaining();
    if (left.toNanos() < deadline.nanosLeft()) {
      deadline = Deadline.in(left, deadline.clock());
    }
    translated.complete(null);
    var input =
        require(model.handler.inputFn(understood), model.names.inputFn(), "a list of records");
    memory.add(RECORD * input.size());
    now.enters(model.names.split());
    split = Split.of(input, model.handler, model.names);
    now.enters(model.names.length());
    var pieces = split.measured(model.handler, model.names);
    decoded = Duration.ofNanos(System.nanoTime() - start);
    model.metrics.decoded(decoded);
    if (split.isEmpty()) {
      encode(Predictions.none(), now);
      return;
    }
    caller.trace().queued();
    if (model.handler instanceof StreamingHandler<?, I, O, ?> streaming) {
      submit(streaming, pieces);
    } else {
      ticket = model.batcher.submit(pieces, deadline.nanos(), caller, this::predicted);
    }
  }

  private void submit(StreamingHandler<?, I, O, ?> streaming, Pieces<I> pieces) {
    if (pieces.values().size() > split.records().size()) {
      throw new ServingException(
          ErrorType.INTERNAL,
          "%s returned several pieces, expected the record that stepFn predicts part by part"
              .formatted(model.names.split()));
    }
    var type =
        streams.flatMap(
            limits ->
                limits.isSocket()
                    ? Optional.of(streaming.streamedAs(request).orElse(request.accept()))
                    : streaming.streamedAs(request));
    if (type.isEmpty()) {
      var parts = new Parts<O>(pieces.values().size(), deadline, memory);
      ticket =
          model.batcher.submit(
              pieces,
              parts,
              caller,
              ended ->
                  predicted(
                      ended,
                      (predictions, now) ->
                          encode(joined(streaming, parts, now), predictions, now)));
      return;
    }
    var answer = new AtomicReference<StreamedAnswer<O>>();
    answer.set(
        new StreamedAnswer<>(
            streaming,
            model.names.partFn(),
            request,
            type.get(),
            memory,
            model.metrics.streams(),
            deadline,
            streams.get(),
            begunAt,
            () -> landed.complete(answer.get())));
    ticket =
        model.batcher.submit(pieces, answer.get(), caller, ended -> streamed(ended, answer.get()));
    answer.get().comesFrom(ticket);
  }

  /// Runs on the thread that has ended the request's records, mostly its worker's.
  private void predicted(Batcher<I, O>.Ticket ended) {
    predicted(ended, this::encode);
  }

  private void predicted(Batcher<I, O>.Ticket ended, Encoding<O> encoding) {
    try {
      var predictions = ended.predictions();
      run.set(start(model.names.outputFn(), "outputFn", now -> encoding.run(predictions, now)));
    } catch (Throwable e) {
      model.metrics.caught(e);
      landed.completeExceptionally(HookFailure.of(model.names.predictFn(), e));
    }
  }

  /// The parts of a streamed answer have all been encoded, or there will be no more.
  private void streamed(Batcher<I, O>.Ticket ended, StreamedAnswer<O> answer) {
    try {
      var predictions = ended.predictions();
      answer.end(
          new Invocation(
              split.records().size(),
              decoded,
              predictions.queued(),
              predictions.predicted(),
              Duration.ZERO));
    } catch (Throwable e) {
      model.metrics.caught(e);
      var failure = HookFailure.of(model.names.predictFn(), e);
      if (!answer.fail(failure)) {
        landed.completeExceptionally(failure);
      }
    }
  }

  private List<O> joined(StreamingHandler<?, I, O, ?> streaming, Parts<O> parts, HookRun now) {
    now.enters(model.names.join());
    var values = new ArrayList<O>(split.records().size());
    for (var record : split.records()) {
      values.add(
          require(
              streaming.join(record, parts.ofRecords().get(values.size())),
              model.names.join(),
              "a prediction"));
    }
    return Collections.unmodifiableList(values);
  }

  private void encode(Predictions<O> predictions, HookRun now) throws Exception {
    now.enters(model.names.join());
    encode(split.join(predictions.values(), model.handler, model.names), predictions, now);
  }

  private void encode(List<O> values, Predictions<O> predictions, HookRun now) throws Exception {
    long start = System.nanoTime();
    now.enters(model.names.outputFn());
    var response =
        dialect.response(
            require(
                model.handler.outputFn(values, understood), model.names.outputFn(), "a response"));
    var encoded = Duration.ofNanos(System.nanoTime() - start);
    model.metrics.encoded(encoded);
    landed.complete(
        new Answer.Whole(
            response,
            new Invocation(
                split.records().size(),
                decoded,
                predictions.queued(),
                predictions.predicted(),
                encoded)));
  }

  /// A hook, with whatever it throws.
  private interface HookCall {
    void run(HookRun now) throws Exception;
  }

  /// What is made of the predictions of all records.
  private interface Encoding<O> {
    void run(Predictions<O> predictions, HookRun now) throws Exception;
  }

  private static <T> T require(T result, String hook, String expected) {
    if (result == null) {
      throw new ServingException(
          ErrorType.INTERNAL, "%s returned null, expected %s".formatted(hook, expected));
    }
    return result;
  }
}
