package dev.berth.batching;

import dev.berth.batching.Submission.Ending;
import dev.berth.error.ErrorType;
import dev.berth.error.ServingException;
import dev.berth.metrics.ServingMetrics;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.function.Consumer;
import java.util.function.LongSupplier;
import java.util.stream.IntStream;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// Predicts the records of many requests on a few workers, in batches.
///
/// Nothing here waits for predictions: whoever has submitted records is told, and decides how long to wait. Predictors run
/// on the workers' threads.
public final class Batcher<I, O> implements AutoCloseable {

  private static final Logger log = LoggerFactory.getLogger(Batcher.class);

  /// How long [#close] waits for workers after it has interrupted them: native code may never look.
  private static final Duration JOIN = Duration.ofSeconds(3);

  private final String predictor;
  private final LongSupplier clock;
  private final BatchQueue<I, O> queue;
  private final List<Worker<I, O>> workers;

  /// @param name the model's name, for threads, messages and the log
  /// @param predictor what records run through, for messages
  /// @param clock in nanoseconds, such as [System#nanoTime()]
  public Batcher(
      String name,
      String predictor,
      int workers,
      BatchLimits limits,
      PredictorFactory<I, O> factory,
      LongSupplier clock,
      ServingMetrics metrics) {
    if (workers < 1) {
      throw new IllegalArgumentException("workers: found %d, expected at least 1".formatted(workers));
    }
    this.predictor = predictor;
    this.clock = clock;
    this.queue = new BatchQueue<>(name, limits, clock, metrics);
    this.workers = IntStream.range(0, workers)
        .mapToObj(number -> new Worker<>(name, number, factory, queue, clock, metrics))
        .toList();
  }

  /// Starts the workers one after another and returns when all of them are ready. Call once.
  ///
  /// @throws ExecutionException with what the factory threw; the workers that were ready are stopped then
  public void start() throws InterruptedException, ExecutionException {
    try {
      for (var worker : workers) {
        worker.start();
      }
    } catch (InterruptedException | ExecutionException e) {
      close();
      throw e;
    }
  }

  /// Refuses what [#submit] would refuse however few records there were, before anything is spent on reading them.
  ///
  /// @param deadlineNanos when the request's time is over, as the clock counts
  /// @throws ServingException `OVERLOADED` or `NOT_READY`
  public void requireRoom(long deadlineNanos) {
    queue.requireRoom(deadlineNanos);
  }

  /// Queues the records. All of them are queued or none.
  ///
  /// @param deadlineNanos when the request's time is over, as the clock counts
  /// @param whenEnded run once, when [Ticket#predictions] has them or says why not. It must neither block nor throw
  /// @throws ServingException `OVERLOADED` or `NOT_READY`
  public Ticket submit(Pieces<I> pieces, long deadlineNanos, Caller caller, Consumer<Ticket> whenEnded) {
    var ticket = new Ticket(pieces, deadlineNanos, caller, whenEnded);
    queue.submit(ticket.submission);
    return ticket;
  }

  /// The records of one request, queued or running. May be used by any thread.
  public final class Ticket {

    private final Submission<I, O> submission;

    private Ticket(Pieces<I> pieces, long deadline, Caller caller, Consumer<Ticket> whenEnded) {
      this.submission = new Submission<>(pieces, clock.getAsLong(), deadline, caller, () -> whenEnded.accept(this));
    }

    /// How long to wait before [#ask].
    public long patienceNanos() {
      return queue.read(() -> submission.patience(clock.getAsLong()));
    }

    /// Asks why there is no answer yet: a batch that takes too long for this request is taken apart, and a request whose
    /// time is over ends.
    public void ask() {
      queue.ask(submission);
    }

    /// Says that nobody waits any more.
    public void abandon() {
      queue.abandon(submission);
    }

    /// The predictions, in the order of the pieces. Only when it has ended.
    ///
    /// @throws ServingException `DEADLINE_EXCEEDED`, `NOT_READY` or `CALLER_GONE`
    /// @throws ExecutionException with what the predictor threw for one of the pieces
    public Predictions<O> predictions() throws ExecutionException {
      return switch (queue.read(submission::ending).orElseThrow()) {
        case Ending.Answered() -> submission.predictions();
        case Ending.Failed(var cause) -> throw new ExecutionException(cause);
        case Ending.Expired() -> throw new ServingException(
            ErrorType.DEADLINE_EXCEEDED,
            submission.hasStarted()
                ? "the request's time ran out while %s ran".formatted(predictor)
                : "the request's time ran out while it was queued");
        case Ending.Abandoned() -> throw new ServingException(ErrorType.CALLER_GONE, "the caller has gone away");
        case Ending.Refused(var why) -> throw new ServingException(ErrorType.NOT_READY, why);
      };
    }
  }

  /// The workers that can predict.
  public int liveWorkers() {
    return queue.liveWorkers();
  }

  /// Looks for workers whose prediction has not ended `grace` after the deadline of all its requests. They count as
  /// lost until it ends: the model belongs to its thread, so no other can take their place.
  ///
  /// @return the threads of those that were not known before
  public List<Thread> findStuck(Duration grace) {
    return queue.findStuck(grace);
  }

  /// Whether all workers have ended.
  public boolean hasEnded() {
    return queue.workers() == 0;
  }

  /// The records that wait.
  public int queueDepth() {
    return queue.size();
  }

  /// Refuses new requests, fails those that are there and stops the workers, which close their predictors. An
  /// interrupt ends the waiting, not the closing. Afterwards [#hasEnded] says whether native code has let all of them go.
  @Override
  public void close() {
    queue.close();
    try {
      join();
    } catch (InterruptedException _) {
      Thread.currentThread().interrupt();
    }
  }

  private void join() throws InterruptedException {
    long deadline = clock.getAsLong() + JOIN.toNanos();
    for (var worker : workers) {
      if (!worker.join(Duration.ofNanos(Math.max(0, deadline - clock.getAsLong())))) {
        log.warn("{} still runs {} s after it was told to end; it is left behind", worker.name(), JOIN.toSeconds());
      }
    }
  }
}
