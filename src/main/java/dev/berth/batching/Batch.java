package dev.berth.batching;

import java.util.List;

/// Records that go through a predictor together, and the worker's thread. The records never change; the interruption is
/// guarded by the lock of the [BatchQueue].
final class Batch<I, O> {

  private final List<Pending<I, O>> pending;
  private final Thread worker;
  private final long startedAt;
  private final boolean hasFollowers;
  private boolean interrupted;

  /// @param hasFollowers whether records were left to wait when it started
  Batch(List<Pending<I, O>> pending, Thread worker, long startedAt, boolean hasFollowers) {
    this.pending = List.copyOf(pending);
    this.worker = worker;
    this.startedAt = startedAt;
    this.hasFollowers = hasFollowers;
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

  /// What the batch costs with every record padded to the longest.
  long paddedLengths() {
    return (long) size() * pending.stream().mapToInt(Pending::length).max().orElse(0);
  }

  /// Interrupts the worker, once, when no request waits for the batch any more.
  void interruptIfUnwanted() {
    if (!interrupted && pending.stream().allMatch(p -> p.submission().hasEnded())) {
      interrupted = true;
      worker.interrupt();
    }
  }
}
