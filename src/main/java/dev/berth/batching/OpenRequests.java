package dev.berth.batching;

import dev.berth.batching.Submission.Ending;
import dev.berth.metrics.ServingMetrics;
import java.util.Collection;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.function.LongSupplier;

/// The requests that have not ended, and where their records are: waiting, or running in a batch.
///
/// Holds no lock and never waits; the lock of the [BatchQueue] guards it. Two invariants: a record waits only while its
/// request is open, so nothing waits for nobody; a batch is in `running` from its [#run] to its [#stop], so an
/// interrupt never reaches a later batch.
final class OpenRequests<I, O> {

  private final BatchPolicy policy;
  private final LongSupplier clock;
  private final ServingMetrics metrics;

  private final Set<Submission<I, O>> open = new LinkedHashSet<>();
  private final Buckets<I, O> waiting = new Buckets<>();
  private final Set<Batch<I, O>> running = new LinkedHashSet<>();

  OpenRequests(BatchPolicy policy, LongSupplier clock, ServingMetrics metrics) {
    this.policy = policy;
    this.clock = clock;
    this.metrics = metrics;
  }

  /// The number of records that wait.
  int waiting() {
    return waiting.size();
  }

  void add(Submission<I, O> submission) {
    open.add(submission);
    submission.pending().forEach(waiting::add);
    metrics.recordsQueued(submission.pending().size());
  }

  /// Ends the requests whose time ran out while they stood first in line.
  void endExpired() {
    long now = clock.getAsLong();
    for (var oldest = waiting.oldest();
        oldest.isPresent() && oldest.get().submission().isExpired(now);
        oldest = waiting.oldest()) {
      end(oldest.get().submission(), new Ending.Expired());
    }
  }

  /// How long the next batch should wait to be fuller; zero or less: not at all. There must be a record that waits.
  long delayNanos() {
    var oldest = waiting.oldest().orElseThrow();
    return policy.delayNanos(waiting.line(oldest.bucket()), clock.getAsLong());
  }

  /// Drops the chosen records whose request has ended since they left the line.
  void dropEnded(List<Pending<I, O>> chosen) {
    int before = chosen.size();
    chosen.removeIf(pending -> pending.submission().hasEnded());
    metrics.recordsAbandoned(before - chosen.size());
  }

  /// Moves records that wait into `chosen`, as many as go together with those that it holds; with the oldest, where it
  /// holds none. There must be a record that waits or is chosen.
  void fill(List<Pending<I, O>> chosen) {
    long now = clock.getAsLong();
    var first = chosen.isEmpty() ? waiting.oldest().orElseThrow() : chosen.getFirst();
    int longest = chosen.stream().mapToInt(Pending::length).max().orElse(0);
    var line = waiting.line(first.bucket());
    while (!line.isEmpty()) {
      var next = line.getFirst();
      if (next.submission().isExpired(now)) {
        end(next.submission(), new Ending.Expired());
      } else if (policy.hasRoom(chosen.size(), longest, next.length())) {
        waiting.remove(next);
        metrics.recordsDequeued(1);
        chosen.add(next);
        longest = Math.max(longest, next.length());
      } else {
        return;
      }
    }
  }

  /// Starts a batch of chosen records on the calling worker.
  Batch<I, O> start(List<Pending<I, O>> chosen) {
    long now = clock.getAsLong();
    for (var pending : chosen) {
      pending.submission().start(now);
      metrics.recordWaited(pending.submission().sinceArrival(now));
    }
    return run(chosen);
  }

  /// Registers a batch of the calling worker, so that the worker is interrupted when nobody waits for the batch any
  /// more.
  Batch<I, O> run(List<Pending<I, O>> records) {
    var batch = new Batch<>(records, Thread.currentThread());
    running.add(batch);
    return batch;
  }

  /// Ends a batch of the calling worker: an interrupt that has come for it ends with it, and none comes after.
  void stop(Batch<I, O> batch) {
    running.remove(batch);
    Thread.interrupted();
  }

  void answer(Batch<I, O> batch, List<O> values) {
    for (int i = 0; i < values.size(); i++) {
      var pending = batch.pending().get(i);
      var submission = pending.submission();
      if (!submission.hasEnded() && submission.answer(pending.index(), values.get(i))) {
        end(submission, new Ending.Answered());
      }
    }
  }

  void endAll(Ending how) {
    endAll(open, how);
  }

  void endAll(Collection<Submission<I, O>> submissions, Ending how) {
    List.copyOf(submissions).forEach(submission -> end(submission, how));
  }

  /// Ends a request, unless it has ended: its records stop waiting, and batches that nobody waits for any more are
  /// interrupted.
  void end(Submission<I, O> submission, Ending how) {
    if (!open.remove(submission)) {
      return;
    }
    submission.end(how, clock.getAsLong());
    switch (how) {
      case Ending.Answered() -> {
        // Every record has been through the predictor: none waits.
      }
      case Ending.Expired() -> {
        metrics.requestExpired();
        withdraw(submission);
      }
      case Ending.Failed _, Ending.Abandoned _, Ending.Refused _ -> withdraw(submission);
    }
  }

  private void withdraw(Submission<I, O> submission) {
    int dropped = (int) submission.pending().stream().filter(waiting::remove).count();
    metrics.recordsDequeued(dropped);
    metrics.recordsAbandoned(dropped);
    running.forEach(Batch::interruptIfUnwanted);
  }
}
