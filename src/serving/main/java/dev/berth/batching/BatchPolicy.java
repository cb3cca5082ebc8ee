package dev.berth.batching;

import dev.berth.batching.Submission.Pending;

/// Which records go together and when: pure functions of what waits and the time.
///
/// Records are put into buckets by the power of two that their length is rounded up to, so that
/// padding at most doubles a batch's cost. A batch is a prefix of one bucket in the order of
/// arrival.
record BatchPolicy(BatchLimits limits) {

    /// One bucket for each power of two that an `int` length can be rounded up to.
    static final int BUCKETS = Integer.SIZE;

    private static final int SHORTEST_BUCKET = 16;

    /// The bucket of a length: the exponent of the power of two that it is rounded up to, 16 at
    /// least.
    static int bucket(int length) {
        return Integer.SIZE - Integer.numberOfLeadingZeros(Math.max(length, SHORTEST_BUCKET) - 1);
    }

    /// Whether a batch of `size` records, the longest of length `longest`, has room for one more of
    /// length `length`.
    boolean hasRoom(int size, int longest, int length) {
        return size == 0
                || (size < limits.maxBatchSize() && (size + 1L) * Math.max(longest, length) <= limits.maxBatchTokens());
    }

    /// How long a free worker should let a bucket fill up; zero or less: not at all.
    ///
    /// @param bucket the records that wait, oldest first
    long delayNanos(Iterable<? extends Pending<?, ?>> bucket, long now) {
        long delay = limits.maxBatchDelay().toNanos();
        return delay == 0 || fillsBatch(bucket)
                ? 0
                : delay - (now - bucket.iterator().next().arrivedAt());
    }

    private boolean fillsBatch(Iterable<? extends Pending<?, ?>> bucket) {
        int size = 0;
        int longest = 1;
        for (var pending : bucket) {
            if (!hasRoom(size, longest, pending.length())) {
                return true;
            }
            size++;
            longest = Math.max(longest, pending.length());
        }
        return !hasRoom(size, longest, longest);
    }
}
