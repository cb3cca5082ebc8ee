package dev.berth.batching;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SequencedSet;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// One request's records and what became of them. Compared by identity.
///
/// What changes is guarded by the lock of the [BatchQueue] that it was handed to; it ends
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
  private final Caller caller;
  private final long arrivedAt;
  private final long deadline;
  private final Runnable whenEnded;

  /// By the records' places; null where a record has no prediction yet.
  private final List<O> values;
  private int unanswered;
  /// How many of its records have left the line.
  private int taken;
  /// The lengths of those that have not.
  private long leftLength;
  /// All before it have left the line.
  private int next;
  private Optional<Long> startedAt = Optional.empty();
  private Optional<Ending> ending = Optional.empty();
  private long endedAt;
  /// When its thread should ask why there is no answer yet.
  private long impatientAt;

  /// @param lengths what each record costs in a batch, in tokens
  /// @param whenEnded run once, without the lock, by whoever has ended it
  Submission(
      List<I> records, int[] lengths, long arrivedAt, long deadline, Caller caller, Runnable whenEnded) {
    this.arrivedAt = arrivedAt;
    this.deadline = deadline;
    bePatient(arrivedAt);
    this.caller = caller;
    this.whenEnded = whenEnded;
    this.unanswered = records.size();
    this.values = new ArrayList<>(Collections.nCopies(records.size(), null));
    this.pending = new ArrayList<>(records.size());
    for (var record : records) {
      int length = lengths[pending.size()];
      leftLength += length;
      pending.add(new Pending<>(this, pending.size(), record, length));
    }
  }

  /// The requests of records, in their order.
  static <I, O> SequencedSet<Submission<I, O>> of(List<Pending<I, O>> records) {
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
      return caller.hasGone().getAsBoolean();
    } catch (RuntimeException e) {
      log.warn("could not ask whether a caller has gone away", e);
      return false;
    }
  }

  Map<String, String> logContext() {
    return caller.logContext();
  }

  long deadline() {
    return deadline;
  }

  boolean isExpired(long now) {
    return deadline - now <= 0;
  }

  /// When half of the time is over that it had left at `since`.
  long halfTime(long since) {
    return since + Math.max(0, deadline - since) / 2;
  }

  /// Half of the time that it has left may pass before [#isImpatient].
  void bePatient(long now) {
    impatientAt = halfTime(now);
  }

  /// Whether so much time has passed without an answer that something in its batch may keep it waiting.
  boolean isImpatient(long now) {
    return impatientAt - now <= 0;
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

  void take(Pending<I, O> record) {
    taken++;
    leftLength -= record.length();
  }

  int taken() {
    return taken;
  }

  /// How many of its records wait.
  int left() {
    return pending.size() - taken;
  }

  /// The lengths of those of its records that would still wait when `count` of them have been predicted.
  long lengthBehind(int count) {
    return left() <= count ? 0 : leftLength * (left() - count) / left();
  }

  /// The first of its records that waits; nothing where none does.
  Optional<Pending<I, O>> firstWaiting(Predicate<Pending<I, O>> waits) {
    while (next < pending.size() && !waits.test(pending.get(next))) {
      next++;
    }
    return next < pending.size() ? Optional.of(pending.get(next)) : Optional.empty();
  }

  /// Whether a record needs no prediction any more.
  boolean isDone(int index) {
    return hasEnded() || values.get(index) != null;
  }

  /// Takes the prediction of a record that is not done; true when it was the last one.
  boolean answer(int index, O value) {
    values.set(index, value);
    unanswered--;
    return unanswered == 0;
  }

  void end(Ending how, long now) {
    ending = Optional.of(how);
    endedAt = now;
  }

  Optional<Ending> ending() {
    return ending;
  }

  /// Says that it has ended.
  void tell() {
    whenEnded.run();
  }

  /// How long its caller should wait before it asks why there is no answer yet.
  long patience(long now) {
    return Math.min(deadline - now, impatientAt - now);
  }

  Duration sinceArrival(long now) {
    return Duration.ofNanos(now - arrivedAt);
  }

  Predictions<O> predictions() {
    long started = startedAt.orElseThrow();
    return new Predictions<>(Collections.unmodifiableList(values), Duration.ofNanos(started - arrivedAt), Duration.ofNanos(endedAt - started));
  }
}
