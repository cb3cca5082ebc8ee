package dev.berth.batching;

import dev.berth.batching.Submission.Pending;
import dev.berth.metrics.ModelMetrics;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Optional;
import java.util.SequencedSet;
import java.util.Set;
import java.util.function.Consumer;
import java.util.stream.IntStream;

/// The pieces that wait, first in first out in buckets, and the requests that they belong to. Guarded
/// by the lock of the [WorkerPool].
///
/// A bucket is for each power of two that lengths are rounded up to, so that padding at most doubles
/// the cost of a batch. A batch is a prefix of one bucket in the order of arrival.
///
/// Adding, taking and removing one piece costs the same however many wait.
final class Line<I, O> {

    private static final int SHORTEST_BUCKET = 16;

    private final BatchLimits limits;
    private final ModelMetrics metrics;

    /// One for each power of two that an `int` length can be rounded up to.
    private final List<SequencedSet<Pending<I, O>>> buckets = IntStream.range(0, Integer.SIZE)
            .<SequencedSet<Pending<I, O>>>mapToObj(_ -> new LinkedHashSet<>())
            .toList();

    private final Turns<I, O> turns;

    /// The requests of more than one piece. The wait of each request that comes is estimated from
    /// these alone, since there may be a thousand of the others.
    private final Set<Submission<I, O>> several = new LinkedHashSet<>();

    private int pieces;
    private long length;

    Line(BatchLimits limits, Turns<I, O> turns, ModelMetrics metrics) {
        this.limits = limits;
        this.turns = turns;
        this.metrics = metrics;
    }

    /// The number of requests that wait. One of which some pieces wait counts as one.
    int requests() {
        return turns.size();
    }

    int pieces() {
        return pieces;
    }

    /// The length of what is predicted before the last piece of a request of `count` pieces: those
    /// that wait are served in turn, so as many pieces of each.
    long lengthBefore(int count) {
        return length
                - several.stream()
                        .mapToLong(request -> request.lengthBehind(count))
                        .sum();
    }

    void add(Submission<I, O> request) {
        for (var piece : request.pending) {
            bucket(piece).addLast(piece);
            pieces++;
            length += piece.length();
        }
        if (request.pending.size() > 1) {
            several.add(request);
        }
        turns.add(request);
        metrics.requestQueued(request.records());
    }

    void remove(Submission<I, O> request) {
        if (request.left() > 0) {
            request.pending.forEach(this::remove);
            metrics.requestDequeued();
        }
        several.remove(request);
        turns.remove(request);
    }

    private boolean remove(Pending<I, O> piece) {
        boolean removed = bucket(piece).remove(piece);
        if (removed) {
            pieces--;
            length -= piece.length();
        }
        return removed;
    }

    private SequencedSet<Pending<I, O>> bucket(Pending<I, O> piece) {
        return buckets.get(bucket(piece.length()));
    }

    /// The bucket of a length: the exponent of the power of two that it is rounded up to, 16 at
    /// least.
    static int bucket(int length) {
        return Integer.SIZE - Integer.numberOfLeadingZeros(Math.max(length, SHORTEST_BUCKET) - 1);
    }

    Optional<Pending<I, O>> oldest() {
        // No stream: a worker asks several times for each batch, with the lock held.
        Pending<I, O> oldest = null;
        for (var bucket : buckets) {
            if (!bucket.isEmpty() && (oldest == null || isOlder(bucket.getFirst(), oldest))) {
                oldest = bucket.getFirst();
            }
        }
        return Optional.ofNullable(oldest);
    }

    private static boolean isOlder(Pending<?, ?> a, Pending<?, ?> b) {
        long difference = a.arrivedAt() - b.arrivedAt();
        return difference < 0 || (difference == 0 && a.index() < b.index());
    }

    /// How long the next batch should wait to be fuller; zero or less: not at all.
    long delayNanos(Pending<I, O> oldest, long now) {
        long delay = limits.maxBatchDelay().toNanos();
        return delay == 0 || fillsBatch(bucket(oldest)) ? 0 : delay - (now - oldest.arrivedAt());
    }

    private boolean fillsBatch(Iterable<Pending<I, O>> bucket) {
        int size = 0;
        int longest = 1;
        for (var piece : bucket) {
            if (!limits.hasRoom(size, longest, piece.length())) {
                return true;
            }
            size++;
            longest = Math.max(longest, piece.length());
        }
        return !limits.hasRoom(size, longest, longest);
    }

    /// Moves pieces that wait into `chosen`, as many as go together with those that it holds; with
    /// the one whose turn it is, where it holds none.
    ///
    /// @param most how many it may hold
    /// @param expired ends a request whose time is over, so that it waits no more
    void fill(List<Pending<I, O>> chosen, int most, long now, Consumer<Submission<I, O>> expired) {
        while (chosen.isEmpty()) {
            if (pieces == 0) {
                return;
            }
            var next = turns.next(now);
            if (next.isExpired(now)) {
                expired.accept(next);
            } else {
                take(next.firstWaiting(piece -> bucket(piece).contains(piece)), chosen);
            }
        }
        int longest = chosen.stream().mapToInt(Pending::length).max().orElse(0);
        var bucket = bucket(chosen.getFirst());
        boolean newestFirst = turns.isNewestFirst(now);
        while (!bucket.isEmpty() && chosen.size() < most) {
            var next = newestFirst ? bucket.getLast() : bucket.getFirst();
            if (next.submission().isExpired(now)) {
                expired.accept(next.submission());
            } else if (limits.hasRoom(chosen.size(), longest, next.length())) {
                take(next, chosen);
                longest = Math.max(longest, next.length());
            } else {
                return;
            }
        }
    }

    private void take(Pending<I, O> piece, List<Pending<I, O>> chosen) {
        remove(piece);
        piece.submission().take(piece);
        turns.taken(piece.submission());
        if (piece.submission().left() == 0) {
            metrics.requestDequeued();
        }
        chosen.add(piece);
    }
}
