package dev.berth.batching;

import java.time.Duration;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.Collections;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.SequencedSet;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// The records of one request, in pieces where they were split, and what became of them. Compared by
/// identity.
///
/// The public methods may be called by any thread. What changes is guarded by the lock of the queue
/// that has it; it ends once, and nothing changes after that.
public final class Submission<I, O> {

    private static final Logger log = LoggerFactory.getLogger(Submission.class);

    private static final long LEAST_PATIENCE = TimeUnit.MILLISECONDS.toNanos(1);

    /// The queue that has it.
    abstract static class Queue<I, O> {

        /// As its clock counts.
        abstract long now();

        abstract void ask(Submission<I, O> request);

        abstract void abandon(Submission<I, O> request);

        abstract void wakeWorker();
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
    final PartSink<O> sink;
    final long arrivedAt;

    private final Queue<I, O> queue;
    private final int records;
    private final Consumer<Submission<I, O>> whenEnded;

    /// By the pieces' places; null where a piece has no prediction yet, or has it in parts.
    private final List<O> values;

    private int unanswered;

    /// The pieces that have been with a predictor.
    private final BitSet started = new BitSet();

    private long startedAt;

    /// How many of its pieces are with predictors, also when it has ended.
    private final AtomicInteger inside = new AtomicInteger();

    /// How many of its pieces have left the line.
    private int taken;

    /// The lengths of those that have not.
    private long leftLength;

    /// All before it have left the line.
    private int next;

    private boolean inSteps;

    private long endedAt;

    /// Why it has no predictions; null where it has them.
    private Throwable failure;

    /// Written under the lock after all others; read without it.
    private volatile boolean ended;

    /// @param whenEnded run once, without the lock, by the thread that has ended it
    Submission(
            Queue<I, O> queue,
            Pieces<I> pieces,
            PartSink<O> sink,
            Caller caller,
            Consumer<Submission<I, O>> whenEnded) {
        this.queue = queue;
        this.arrivedAt = queue.now();
        this.sink = sink;
        this.caller = caller;
        this.whenEnded = whenEnded;
        this.records = pieces.counts().length;
        this.unanswered = pieces.values().size();
        this.values = new ArrayList<>(Collections.nCopies(unanswered, null));
        this.pending = new ArrayList<>(unanswered);
        int[] lengths = pieces.lengths();
        for (int record = 0; record < records; record++) {
            for (int piece = 0; piece < pieces.counts()[record]; piece++) {
                int index = pending.size();
                pending.add(new Pending<>(this, index, record, pieces.values().get(index), lengths[index]));
                leftLength += lengths[index];
            }
        }
    }

    static <I, O> SequencedSet<Submission<I, O>> of(List<Pending<I, O>> pieces) {
        return pieces.stream().map(Pending::submission).collect(Collectors.toCollection(LinkedHashSet::new));
    }

    /// How long to wait for its end before [#ask]: for half of the time that is left.
    public long patienceNanos() {
        return Math.max((deadline() - queue.now()) / 2, LEAST_PATIENCE);
    }

    /// Asks why it has not ended yet: a batch that has kept it waiting for too long is interrupted,
    /// and it ends when its time is over.
    public void ask() {
        queue.ask(this);
    }

    /// Says that the sink of its parts has room again.
    public void resume() {
        queue.wakeWorker();
    }

    /// Says that its caller has gone.
    public void abandon() {
        queue.abandon(this);
    }

    /// Whether a predictor still has something of it. It may, for a while, after the request has
    /// ended.
    public boolean isInside() {
        return inside.get() > 0;
    }

    /// The predictions, in the order of the pieces; nulls where they came in parts. Only when it has
    /// ended.
    ///
    /// @throws ExecutionException with what the predictor threw for one of the pieces, or a
    ///   [dev.berth.error.ServingException]: `DEADLINE_EXCEEDED`, `NOT_READY` or `CALLER_GONE`
    public Predictions<O> predictions() throws ExecutionException {
        if (!ended) {
            throw new IllegalStateException("found a request that has not ended");
        }
        if (failure != null) {
            throw new ExecutionException(failure);
        }
        return new Predictions<>(
                Collections.unmodifiableList(values),
                Duration.ofNanos(startedAt - arrivedAt),
                Duration.ofNanos(endedAt - startedAt));
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

    int records() {
        return records;
    }

    long deadline() {
        return sink.deadlineNanos();
    }

    boolean isExpired(long now) {
        return deadline() - now <= 0;
    }

    /// May be asked without the lock.
    boolean hasEnded() {
        return ended;
    }

    /// One more of its pieces, or with -1 one less, is with a predictor.
    void countInside(int more) {
        inside.addAndGet(more);
    }

    boolean hasStarted() {
        return !started.isEmpty();
    }

    void start(Pending<I, O> piece, long now) {
        if (!hasStarted()) {
            startedAt = now;
        }
        started.set(piece.index());
    }

    /// Its predictions come in parts from now on.
    void streams() {
        inSteps = true;
    }

    boolean isStreaming() {
        return inSteps;
    }

    /// Takes a piece out of the line.
    void take(Pending<I, O> piece) {
        taken++;
        leftLength -= piece.length();
    }

    int left() {
        return pending.size() - taken;
    }

    /// How many of its records have pieces that were never with a predictor.
    int recordsNotStarted() {
        return (int) pending.stream()
                .filter(piece -> !started.get(piece.index()))
                .mapToInt(Pending::record)
                .distinct()
                .count();
    }

    /// The lengths of those of its pieces that would still wait when `count` of them have been
    /// predicted.
    long lengthBehind(int count) {
        return left() <= count ? 0 : leftLength * (left() - count) / left();
    }

    /// The first of its pieces that waits. There must be one.
    Pending<I, O> firstWaiting(Predicate<Pending<I, O>> waits) {
        while (!waits.test(pending.get(next))) {
            next++;
        }
        return pending.get(next);
    }

    /// Takes the prediction of a piece; true when it was the last one.
    boolean answer(int index, O value) {
        values.set(index, value);
        unanswered--;
        return unanswered == 0;
    }

    void end(Throwable why, long now) {
        failure = why;
        endedAt = now;
        ended = true;
    }

    void tell() {
        whenEnded.accept(this);
    }
}
