package dev.berth.batching;

import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.Collection;
import java.util.Collections;
import java.util.Comparator;
import java.util.Deque;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.SequencedSet;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.function.Consumer;
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

    /// Lengths up to this one are of the first bucket.
    private static final int SHORTEST_BUCKET = 16;

    /// The queue that has it.
    abstract static class Queue<I, O> {

        abstract void ask(Submission<I, O> request);

        abstract void abandon(Submission<I, O> request);
    }

    /// One record of a request or a piece of one, waiting or running. Compared by identity, as
    /// records of callers are equal in any way that they like.
    ///
    /// @param index its place in the request
    /// @param isFirst whether it is the first piece of its record
    /// @param length its cost in a batch, in tokens
    record Pending<I, O>(Submission<I, O> submission, int index, boolean isFirst, I value, int length) {

        /// Records go together in a batch where their lengths round up to the same power of two, so
        /// that padding at most doubles its cost.
        ///
        /// @return the exponent of that power
        int bucket() {
            return Integer.SIZE - Integer.numberOfLeadingZeros(Math.max(length, SHORTEST_BUCKET) - 1);
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

    final Caller caller;
    final PartSink<O> sink;
    final long arrivedAt;

    private final Queue<I, O> queue;
    private final int[] counts;
    private final Consumer<Submission<I, O>> whenEnded;

    /// The pieces that wait, by their buckets, in their order.
    private final Map<Integer, Deque<Pending<I, O>>> waiting = new HashMap<>();

    private int left;

    /// The lengths of the pieces that wait.
    private long leftLength;

    /// By the pieces' places; null where a piece has no prediction yet, or has it in parts.
    private final List<O> values;

    private int unanswered;

    /// The pieces that have been with a predictor.
    private final BitSet started = new BitSet();

    private long startedAt;

    /// How many of its pieces workers have, also when it has ended.
    private int inside;

    private final CompletableFuture<Void> released = new CompletableFuture<>();

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
            long arrivedAt,
            Consumer<Submission<I, O>> whenEnded) {
        this.queue = queue;
        this.arrivedAt = arrivedAt;
        this.sink = sink;
        this.caller = caller;
        this.whenEnded = whenEnded;
        this.counts = pieces.counts();
        this.unanswered = pieces.values().size();
        this.values = new ArrayList<>(Collections.nCopies(unanswered, null));
        for (int count : counts) {
            for (int piece = 0; piece < count; piece++, left++) {
                var pending =
                        new Pending<>(this, left, piece == 0, pieces.values().get(left), pieces.lengths()[left]);
                waiting.computeIfAbsent(pending.bucket(), _ -> new ArrayDeque<>())
                        .add(pending);
                leftLength += pending.length();
            }
        }
    }

    static <I, O> SequencedSet<Submission<I, O>> of(Collection<Pending<I, O>> pieces) {
        return pieces.stream().map(Pending::submission).collect(Collectors.toCollection(LinkedHashSet::new));
    }

    /// Asks why it has not ended yet: a batch that has kept it waiting for too long is interrupted, it
    /// ends when its time is over, and it goes on where its sink has room again. Its caller asks
    /// whenever half of the time that is left is over.
    public void ask() {
        queue.ask(this);
    }

    /// Says that its caller has gone.
    public void abandon() {
        queue.abandon(this);
    }

    /// Completed, under the lock, when it has ended and no worker has anything of it any more.
    public CompletableFuture<Void> released() {
        return released;
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
        return counts.length;
    }

    boolean isExpired(long now) {
        return sink.deadlineNanos() - now <= 0;
    }

    /// May be asked without the lock.
    boolean hasEnded() {
        return ended;
    }

    /// One more of its pieces, or with -1 one less, is with a worker.
    void countInside(int more) {
        inside += more;
        releaseIfEnded();
    }

    private void releaseIfEnded() {
        if (ended && inside == 0) {
            released.complete(null);
        }
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

    /// The first of its pieces that wait. There must be one.
    Pending<I, O> firstWaiting() {
        return waiting.values().stream()
                .map(Deque::getFirst)
                .min(Comparator.comparingInt(Pending::index))
                .orElseThrow();
    }

    /// Those of its pieces that wait in a bucket, in their order.
    Collection<Pending<I, O>> waitingIn(int bucket) {
        return waiting.getOrDefault(bucket, new ArrayDeque<>(0));
    }

    /// Takes a piece, the first one that waits in its bucket, out of the line.
    void take(Pending<I, O> piece) {
        waiting.computeIfPresent(piece.bucket(), (_, pieces) -> {
            pieces.removeFirst();
            return pieces.isEmpty() ? null : pieces;
        });
        left--;
        leftLength -= piece.length();
    }

    /// How many of its pieces wait.
    int left() {
        return left;
    }

    /// The lengths of those of its pieces that are predicted before the last one of a request of
    /// `count` pieces: those that wait are served in turn, so as many pieces of each.
    long lengthBefore(int count) {
        return left <= count ? leftLength : leftLength * count / left;
    }

    /// How many of its records have pieces that were never with a predictor.
    int recordsNotStarted() {
        int records = 0;
        int from = 0;
        for (int count : counts) {
            records += started.nextClearBit(from) < from + count ? 1 : 0;
            from += count;
        }
        return records;
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
        releaseIfEnded();
    }

    void tell() {
        whenEnded.accept(this);
    }
}
