package dev.berth.batching;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.locks.Condition;
import java.util.function.BooleanSupplier;
import java.util.function.Predicate;
import java.util.function.ToIntFunction;
import java.util.stream.Collectors;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// One request's records and what became of them. Compared by identity.
///
/// Made on the request's thread. What changes is guarded by the lock of the [BatchQueue] that it was handed to; it ends
/// once, and nothing changes after that.
final class Submission<I, O> {

  private static final Logger log = LoggerFactory.getLogger(Submission.class);

  /// How a request ended.
  sealed interface Ending {
    /// Every record has its prediction.
    record Answered() implements Ending {}

    /// The predictor threw for one of the records.
    record Failed(Throwable cause) implements Ending {}

    /// The request's time ran out.
    record Expired() implements Ending {}

    /// The caller has gone away.
    record Abandoned() implements Ending {}

    /// No worker will answer it.
    record Refused(String why) implements Ending {}
  }

  private final List<Pending<I, O>> pending;
  private final BooleanSupplier abandoned;
  private final long arrivedAt;
  private final long deadline;
  private final Condition ended;

  private final List<O> values;
  private int unanswered;
  /// How many of its records have left the line.
  private int taken;
  /// All before it have left the line.
  private int next;
  private Optional<Long> startedAt = Optional.empty();
  private Optional<Ending> ending = Optional.empty();
  private long endedAt;

  Submission(
      List<I> records,
      ToIntFunction<I> length,
      long arrivedAt,
      long deadline,
      BooleanSupplier abandoned,
      Condition ended) {
    this.arrivedAt = arrivedAt;
    this.deadline = deadline;
    this.abandoned = abandoned;
    this.ended = ended;
    this.unanswered = records.size();
    this.values = new ArrayList<>(Collections.nCopies(records.size(), null));
    this.pending = new ArrayList<>(records.size());
    for (var record : records) {
      pending.add(new Pending<>(this, pending.size(), record, length.applyAsInt(record)));
    }
  }

  /// The requests of records, in their order.
  static <I, O> Set<Submission<I, O>> of(List<Pending<I, O>> records) {
    return records.stream().map(Pending::submission).collect(Collectors.toCollection(LinkedHashSet::new));
  }

  List<Pending<I, O>> pending() {
    return pending;
  }

  long arrivedAt() {
    return arrivedAt;
  }

  /// Asks whether the caller has gone away: foreign code, to be run without the lock. A question that fails drops
  /// nobody.
  boolean isAbandoned() {
    try {
      return abandoned.getAsBoolean();
    } catch (RuntimeException e) {
      log.warn("could not ask whether a caller has gone away", e);
      return false;
    }
  }

  long deadline() {
    return deadline;
  }

  boolean isExpired(long now) {
    return deadline - now <= 0;
  }

  boolean hasEnded() {
    return ending.isPresent();
  }

  boolean hasStarted() {
    return startedAt.isPresent();
  }

  void start(long now) {
    if (startedAt.isEmpty()) {
      startedAt = Optional.of(now);
    }
  }

  void take() {
    taken++;
  }

  int taken() {
    return taken;
  }

  /// How many of its records wait.
  int left() {
    return pending.size() - taken;
  }

  /// The first of its records that waits; nothing where none does.
  Optional<Pending<I, O>> firstWaiting(Predicate<Pending<I, O>> waits) {
    while (next < pending.size() && !waits.test(pending.get(next))) {
      next++;
    }
    return next < pending.size() ? Optional.of(pending.get(next)) : Optional.empty();
  }

  /// Takes the prediction of one record; true when it was the last one.
  boolean answer(int index, O value) {
    values.set(index, value);
    unanswered--;
    return unanswered == 0;
  }

  void end(Ending how, long now) {
    ending = Optional.of(how);
    endedAt = now;
    ended.signal();
  }

  /// Waits for the end, at most until the deadline.
  ///
  /// @return how it ended; nothing: woken too early, or the time is over
  Optional<Ending> await(long now) throws InterruptedException {
    if (ending.isEmpty()) {
      ended.awaitNanos(deadline - now);
    }
    return ending;
  }

  Duration sinceArrival(long now) {
    return Duration.ofNanos(now - arrivedAt);
  }

  Predictions<O> predictions() {
    long started = startedAt.orElseThrow();
    return new Predictions<>(values, Duration.ofNanos(started - arrivedAt), Duration.ofNanos(endedAt - started));
  }
}
