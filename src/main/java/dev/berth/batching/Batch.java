package dev.berth.batching;

import dev.berth.telemetry.RequestTrace;
import dev.berth.telemetry.Step;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/// Records that go through a predictor together, and the worker that has them. The records never
/// change; what becomes of the batch is guarded by the lock of the [WorkerPool].
final class Batch<I, O> {

  private final List<Pending<I, O>> pending;
  private final int worker;
  private final Thread thread;
  private final long startedAt;
  private final boolean hasFollowers;
  private final Kind kind;
  private boolean interrupted;
  private boolean takenApart;
  private boolean stuck;

  /// What a batch is of.
  enum Kind {
    /// Records that have not run.
    FIRST,
    /// One record of a batch that was taken apart.
    RETRY,
    /// A step of records that their worker keeps between steps, or the beginning of one.
    STEP
  }

  /// @param hasFollowers whether records were left to wait when it started
  Batch(
      List<Pending<I, O>> pending,
      int worker,
      Thread thread,
      long startedAt,
      boolean hasFollowers,
      Kind kind) {
    this.pending = List.copyOf(pending);
    this.worker = worker;
    this.thread = thread;
    this.startedAt = startedAt;
    this.hasFollowers = hasFollowers;
    this.kind = kind;
  }

  long startedAt() {
    return startedAt;
  }

  boolean hasFollowers() {
    return hasFollowers;
  }

  List<Pending<I, O>> pending() {
    return pending;
  }

  int size() {
    return pending.size();
  }

  /// The records as the predictor takes them; a record may be null where the caller's was.
  List<I> records() {
    return pending.stream().map(Pending::value).toList();
  }

  long lengths() {
    return pending.stream().mapToLong(Pending::length).sum();
  }

  /// The log context of its requests: what they have under one name, with commas between.
  Map<String, String> logContext() {
    var requests = Submission.of(pending);
    if (requests.size() == 1) {
      return requests.getFirst().logContext();
    }
    var joined = new HashMap<String, String>();
    requests.forEach(
        request ->
            request
                .logContext()
                .forEach(
                    (name, value) ->
                        joined.merge(
                            name,
                            value,
                            (one, other) -> one.equals(other) ? one : one + "," + other)));
    return joined;
  }

  /// Begins the batch in the traces of its requests.
  Step trace(String name) {
    var first = pending.getFirst().submission().trace();
    return first.equals(RequestTrace.NONE)
        ? Step.NONE
        : first.batch(
            name,
            Submission.of(pending).stream().map(Submission::trace).toList(),
            new RequestTrace.BatchSize(size(), lengths()),
            worker);
  }

  /// What the batch costs with every record padded to the longest.
  long paddedLengths() {
    return (long) size() * pending.stream().mapToInt(Pending::length).max().orElse(0);
  }

  /// The number of its worker.
  int worker() {
    return worker;
  }

  Thread thread() {
    return thread;
  }

  Kind kind() {
    return kind;
  }

  /// Whether its records are predicted again, each by itself.
  boolean isTakenApart() {
    return takenApart;
  }

  /// Gives the batch up: its records are predicted again, each by itself. Nobody waits for the
  /// batch any more.
  void takeApart() {
    takenApart = true;
    interrupt();
  }

  /// Whether it runs although the deadline of each of its requests is past for as long as `grace`.
  boolean isOverdue(long now, long grace) {
    return pending.stream().allMatch(p -> now - p.submission().deadline() >= grace);
  }

  boolean isStuck() {
    return stuck;
  }

  void markStuck() {
    stuck = true;
  }

  /// Interrupts the worker, once, when no request waits for the batch any more.
  void interruptIfUnwanted() {
    if (pending.stream().allMatch(p -> p.submission().hasEnded())) {
      interrupt();
    }
  }

  private void interrupt() {
    if (!interrupted) {
      interrupted = true;
      thread.interrupt();
    }
  }
}
