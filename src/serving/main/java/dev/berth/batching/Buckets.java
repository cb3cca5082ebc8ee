package dev.berth.batching;

import dev.berth.batching.Submission.Pending;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Optional;
import java.util.SequencedSet;
import java.util.stream.IntStream;

/// The records that wait, in one first-in-first-out line for each bucket. Guarded by the lock of
/// the [WorkerPool].
///
/// Adding, taking and removing one record costs the same however many wait.
final class Buckets<I, O> {

    private final List<SequencedSet<Pending<I, O>>> lines = IntStream.range(0, BatchPolicy.BUCKETS)
            .<SequencedSet<Pending<I, O>>>mapToObj(_ -> new LinkedHashSet<>())
            .toList();
    private int size;
    private long length;

    int size() {
        return size;
    }

    long length() {
        return length;
    }

    void add(Pending<I, O> pending) {
        line(pending).addLast(pending);
        size++;
        length += pending.length();
    }

    /// The line of a record's bucket, oldest record first; a view to read.
    SequencedSet<Pending<I, O>> line(Pending<I, O> pending) {
        return lines.get(BatchPolicy.bucket(pending.length()));
    }

    Optional<Pending<I, O>> oldest() {
        // No stream: a worker asks several times for each batch, with the lock held.
        Pending<I, O> oldest = null;
        for (var line : lines) {
            if (!line.isEmpty() && (oldest == null || isOlder(line.getFirst(), oldest))) {
                oldest = line.getFirst();
            }
        }
        return Optional.ofNullable(oldest);
    }

    boolean contains(Pending<I, O> pending) {
        return line(pending).contains(pending);
    }

    /// Removes a record; false where it does not wait.
    boolean remove(Pending<I, O> pending) {
        boolean removed = line(pending).remove(pending);
        if (removed) {
            size--;
            length -= pending.length();
        }
        return removed;
    }

    private static boolean isOlder(Pending<?, ?> a, Pending<?, ?> b) {
        long difference = a.arrivedAt() - b.arrivedAt();
        return difference < 0 || (difference == 0 && a.index() < b.index());
    }
}
