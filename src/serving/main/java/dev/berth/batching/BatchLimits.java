package dev.berth.batching;

import java.time.Duration;

/// What a batch and the queue may hold.
///
/// @param maxBatchSize records in a batch
/// @param maxBatchTokens padded cost of a batch: its size × the length of its longest record. A
///   record that is longer than this alone is still served, by itself
/// @param maxBatchDelay how long a free worker lets the oldest record wait for a fuller batch;
///   zero: not at all
/// @param queueCapacity requests that may wait before another one is refused
/// @param targetDelay when a request has waited for longer and has had nothing, and others leave
///   unanswered, the newest is served first; zero: never
public record BatchLimits(
        int maxBatchSize, int maxBatchTokens, Duration maxBatchDelay, int queueCapacity, Duration targetDelay) {

    /// @throws IllegalArgumentException for a size that hooks have made up; the settings check the others
    public BatchLimits {
        if (maxBatchSize < 1) {
            throw new IllegalArgumentException("maxBatchSize: found %d, expected at least 1".formatted(maxBatchSize));
        }
    }

    /// Whether a batch of `size` records, the longest of length `longest`, has room for `more` of length
    /// `length`.
    boolean hasRoom(int size, int longest, int more, int length) {
        long all = (long) size + more;
        return size == 0 || (all <= maxBatchSize && all * Math.max(longest, length) <= maxBatchTokens);
    }

    /// The most records in a batch, were each as short as can be.
    public int mostRecords() {
        return Math.min(maxBatchSize, maxBatchTokens);
    }

    /// By the names of the settings.
    @Override
    public String toString() {
        var tokens = maxBatchTokens < Integer.MAX_VALUE ? ", max-batch-tokens " + maxBatchTokens : "";
        return "max-batch-size %d%s, queue-capacity %d".formatted(maxBatchSize, tokens, queueCapacity);
    }
}
