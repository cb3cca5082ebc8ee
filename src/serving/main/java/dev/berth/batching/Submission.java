package dev.berth.batching;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.BitSet;
import java.util.Collections;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Optional;
import java.util.SequencedSet;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// One request's records, in pieces where they were split, and what became of them. Compared by
/// identity.
///
/// What changes is guarded by the lock of the [WorkerPool] that it was handed to; it ends once, and
/// nothing changes after that.
final class Submission<I, O> {

    private static final Logger log = LoggerFactory.getLogger(Submission.class);

    sealed interface Ending {
        record Answered() implements Ending {}

        record Failed(Throwable cause) implements Ending {}

        record Expired() implements Ending {}

        record Abandoned() implements Ending {}

        /// No worker will answer it.
        record Refused(String why) implements Ending {}
    }

    /// One record of a request or a piece of one, waiting or running. Compared by identity, as
    /// records of callers are equal in any way that they like.
    ///
    /// @param index its place in the request
    /// @param record the number of its record
    /// @param length its cost in a batch, in tokens
    record Pending<I, O>(Submission<I, O> submission, int index, int record, I value, int length) {

        Pending {
            if (length < 0) {
                throw new IllegalArgumentException("length: found %d, expected zero or more".formatted(length));
            }
        }

        /// Whether it is the first piece of its record.
        boolean isFirst() {
            return index == 0 || submission.pending.get(index - 1).record != record;
        }

        long arrivedAt() {
            return submission.arrivedAt;
        }

        @Override
        public boolean equals(Object other) {
            return this == other;
        }

        @Override
        public int hashCode() {
            return System.identityHashCode(this);
        }
    }

    /// Its pieces, in their order.
    final List<Pending<I, O>> pending;

    final Caller caller;
    final long arrivedAt;
    final PartSink<O> sink;

    private final Runnable whenEnded;

    /// By the pieces' places; null where a piece has no prediction yet, or has it in parts.
    private final List<O> values;

    private final BitSet answered = new BitSet();

    /// The workers that predict records of it step by step.
    private final BitSet workers = new BitSet();

    private int unanswered;

    /// How many of its pieces are with predictors, also when it has ended.
    private int inside;

    /// How many of its pieces have left the line.
    private int taken;

    /// The lengths of those that have not.
    private long leftLength;

    /// How many of them each record has.
    private final int[] leftOfRecord;

    /// All before it have left the line.
    private int next;

    private Optional<Long> startedAt = Optional.empty();

    /// Written under the lock; read without it by those who predict for long.
    private volatile Optional<Ending> ending = Optional.empty();

    private long endedAt;

    /// When its thread should ask why there is no answer yet.
    private long impatientAt;

    /// @param whenEnded run once, without the lock, by whoever has ended it
    Submission(Pieces<I> pieces, long arrivedAt, PartSink<O> sink, Caller caller, Runnable whenEnded) {
        this.arrivedAt = arrivedAt;
        this.sink = sink;
        bePatient(arrivedAt);
        this.caller = caller;
        this.whenEnded = whenEnded;
        int count = pieces.values().size();
        this.unanswered = count;
        this.values = new ArrayList<>(Collections.nCopies(count, null));
        this.leftOfRecord = pieces.counts().clone();
        this.pending = new ArrayList<>(count);
        int record = 0;
        int before = 0;
        for (var value : pieces.values()) {
            int index = pending.size();
            if (index == before + pieces.counts()[record]) {
                before = index;
                record++;
            }
            leftLength += pieces.lengths()[index];
            pending.add(new Pending<>(this, index, record, value, pieces.lengths()[index]));
        }
    }

    static <I, O> SequencedSet<Submission<I, O>> of(List<Pending<I, O>> records) {
        return records.stream().map(Pending::submission).collect(Collectors.toCollection(LinkedHashSet::new));
    }

    int records() {
        return leftOfRecord.length;
    }

    /// Asks whether the caller has gone away: foreign code, to be run without the lock. A question
    /// that fails drops nobody.
    boolean isAbandoned() {
        try {
            return caller.hasGone().getAsBoolean();
        } catch (RuntimeException e) {
            log.warn("could not ask whether a caller has gone away", e);
            return false;
        }
    }

    long deadline() {
        return sink.deadlineNanos();
    }

    boolean isExpired(long now) {
        return deadline() - now <= 0;
    }

    /// When half of the time is over that it had left at `since`.
    long halfTime(long since) {
        return since + Math.max(0, deadline() - since) / 2;
    }

    /// Half of the time that it has left may pass before [#isImpatient].
    void bePatient(long now) {
        impatientAt = halfTime(now);
    }

    /// Whether so much time has passed without an answer that something in its batch may keep it
    /// waiting.
    boolean isImpatient(long now) {
        return impatientAt - now <= 0;
    }

    /// May be asked without the lock.
    boolean hasEnded() {
        return ending.isPresent();
    }

    /// A worker predicts a record of it step by step.
    void runsOn(int worker) {
        workers.set(worker);
    }

    boolean isOn(int worker) {
        return workers.get(worker);
    }

    boolean isOnWorkers() {
        return !workers.isEmpty();
    }

    /// One more of its pieces, or with -1 one less, is with a predictor.
    void countInside(int more) {
        inside += more;
    }

    boolean isInside() {
        return inside > 0;
    }

    boolean hasStarted() {
        return startedAt.isPresent();
    }

    void start(long now) {
        if (startedAt.isEmpty()) {
            startedAt = Optional.of(now);
        }
    }

    /// Takes a piece out of the line.
    void take(Pending<I, O> piece) {
        taken++;
        leftLength -= piece.length();
        leftOfRecord[piece.record()]--;
    }

    int taken() {
        return taken;
    }

    int left() {
        return pending.size() - taken;
    }

    /// How many of its records wait, with all of their pieces or with some. It stays as it was when
    /// the request ended.
    int leftRecords() {
        return (int) Arrays.stream(leftOfRecord).filter(pieces -> pieces > 0).count();
    }

    /// Whether no piece of a record waited any more, now or when the request ended.
    boolean hasTaken(int record) {
        return leftOfRecord[record] == 0;
    }

    /// The lengths of those of its pieces that would still wait when `count` of them have been
    /// predicted.
    long lengthBehind(int count) {
        return left() <= count ? 0 : leftLength * (left() - count) / left();
    }

    /// The first of its pieces that waits; nothing where none does.
    Optional<Pending<I, O>> firstWaiting(Predicate<Pending<I, O>> waits) {
        while (next < pending.size() && !waits.test(pending.get(next))) {
            next++;
        }
        return next < pending.size() ? Optional.of(pending.get(next)) : Optional.empty();
    }

    /// Whether a piece needs no prediction any more.
    boolean isDone(int index) {
        return hasEnded() || answered.get(index);
    }

    /// Takes the prediction of a piece that is not done; true when it was the last one.
    boolean answer(int index, O value) {
        values.set(index, value);
        answered.set(index);
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

    void tell() {
        whenEnded.run();
    }

    /// How long its caller should wait before it asks why there is no answer yet.
    long patience(long now) {
        return Math.min(deadline(), impatientAt) - now;
    }

    Duration sinceArrival(long now) {
        return Duration.ofNanos(now - arrivedAt);
    }

    Predictions<O> predictions() {
        long started = startedAt.orElseThrow();
        return new Predictions<>(
                Collections.unmodifiableList(values),
                Duration.ofNanos(started - arrivedAt),
                Duration.ofNanos(endedAt - started));
    }
}
