package dev.berth.batching;

import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.Collection;
import java.util.Deque;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.NavigableMap;
import java.util.SequencedSet;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
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

    final Caller caller;
    final PartSink<O> sink;
    final long arrivedAt;

    /// The pieces that wait, by their buckets.
    private final NavigableMap<Integer, Deque<Piece<I, O>>> waiting = new TreeMap<>();

    /// How many that are, their lengths, and the records that they are.
    int left;

    long leftLength;
    long leftSize;

    /// How many pieces of each record were never with a predictor, and how many records have such pieces.
    private final int[] notStarted;

    private final int[] sizes;

    int recordsNotStarted;

    private int unanswered;
    boolean hasStarted;
    private long startedAt;
    private long endedAt;

    /// How many of its pieces workers have, also when it has ended.
    private int inside;

    private final CompletableFuture<Void> predicted = new CompletableFuture<>();
    private final CompletableFuture<Void> released = new CompletableFuture<>();

    /// Written under the lock after all others; read without it.
    private volatile boolean ended;

    Submission(Pieces<I> pieces, PartSink<O> sink, Caller caller, long arrivedAt) {
        this.arrivedAt = arrivedAt;
        this.sink = sink;
        this.caller = caller;
        this.notStarted = pieces.counts().clone();
        this.sizes = pieces.sizes().records();
        this.recordsNotStarted = Arrays.stream(sizes).sum();
        for (int record = 0; record < notStarted.length; record++) {
            for (int last = left + notStarted[record] - 1; left <= last; left++) {
                int length = pieces.lengths()[left];
                int size = pieces.sizes().pieces()[left];
                waiting.computeIfAbsent(Piece.bucket(length), _ -> new ArrayDeque<>())
                        .add(new Piece<>(this, left, record, pieces.values().get(left), length, size));
                leftLength += (long) size * length;
                leftSize += size;
            }
        }
        this.unanswered = left;
    }

    static <I, O> SequencedSet<Submission<I, O>> of(Collection<Piece<I, O>> pieces) {
        return pieces.stream().map(piece -> piece.request).collect(Collectors.toCollection(LinkedHashSet::new));
    }

    /// Completed, without the lock, when all pieces are predicted, or with why they are not: what the
    /// predictor threw for one of them, or a [dev.berth.error.ServingException] of `DEADLINE_EXCEEDED`,
    /// `NOT_READY` or `CALLER_GONE`. The thread that completes it must neither block nor be kept.
    public CompletableFuture<Void> predicted() {
        return predicted;
    }

    /// Of one that is predicted: how long it waited until a worker took its first piece.
    public Duration queueTime() {
        return Duration.ofNanos(startedAt - arrivedAt);
    }

    /// How long it took from then on until the last piece was predicted.
    public Duration predictTime() {
        return Duration.ofNanos(endedAt - startedAt);
    }

    /// Completed, under the lock, when it has ended and no worker has anything of it any more.
    public CompletableFuture<Void> released() {
        return released;
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

    boolean isExpired(long now) {
        return sink.deadlineNanos() - now <= 0;
    }

    /// May be asked without the lock.
    boolean hasEnded() {
        return ended;
    }

    /// A worker has a piece, until [#leaveWorker], and is about to predict it.
    ///
    /// @return whether none of its record is left
    boolean start(Piece<I, O> piece, long now) {
        inside++;
        if (!hasStarted) {
            hasStarted = true;
            startedAt = now;
        }
        boolean isLast = --notStarted[piece.record] == 0;
        recordsNotStarted -= isLast ? sizes[piece.record] : 0;
        return isLast;
    }

    /// A worker is done with a piece.
    void leaveWorker() {
        inside--;
        releaseIfEnded();
    }

    private void releaseIfEnded() {
        if (ended && inside == 0) {
            released.complete(null);
        }
    }

    /// Whose turn it is of its pieces that wait. There must be one.
    Piece<I, O> nextWaiting() {
        return waiting.firstEntry().getValue().getFirst();
    }

    /// Those of its pieces that wait in a bucket, in their order.
    Collection<Piece<I, O>> waitingIn(int bucket) {
        Collection<Piece<I, O>> pieces = waiting.get(bucket);
        return pieces == null ? List.of() : pieces;
    }

    /// Takes a piece, the first one that waits in its bucket, out of the line.
    void take(Piece<I, O> piece) {
        waiting.computeIfPresent(piece.bucket(), (_, pieces) -> {
            pieces.removeFirst();
            return pieces.isEmpty() ? null : pieces;
        });
        left--;
        leftLength -= piece.cost();
        leftSize -= piece.size;
    }

    /// The lengths of those of its pieces that are predicted before the last one of a request of
    /// `count` pieces: those that wait are served in turn, so as many pieces of each.
    long lengthBefore(int count) {
        return left <= count ? leftLength : leftLength * count / left;
    }

    /// One more of its pieces is predicted; true when it was the last one.
    boolean answered() {
        unanswered--;
        return unanswered == 0;
    }

    /// @param why it has no predictions; null where it has them
    /// @return what tells the caller, to be run without the lock
    Runnable end(Throwable why, long now) {
        endedAt = now;
        ended = true;
        releaseIfEnded();
        return () -> {
            if (why == null) {
                predicted.complete(null);
            } else {
                predicted.completeExceptionally(why);
            }
        };
    }
}
