package dev.berth.transform;

import dev.berth.content.BatchStrategy;
import dev.berth.content.RecordReader;
import dev.berth.content.RecordReader.Frames;
import java.io.InputStream;

/// How an object becomes requests.
///
/// @param batchStrategy does not matter where nothing is split
/// @param maxPayload the bytes that a request's body may have; 0 is unlimited
record Splitting(SplitType splitType, BatchStrategy batchStrategy, long maxPayload) {

    static final long MEBIBYTE = 1 << 20;

    /// What has to be in memory may not be unlimited: the most that the API knows.
    private static final long LARGEST_LIMIT = 100 * MEBIBYTE;

    /// The longest array that a JVM surely makes.
    private static final int LONGEST_ARRAY = Integer.MAX_VALUE - 8;

    /// Opens a reader of an object's records as they are sent: framed under `MultiRecord` and bare
    /// under `SingleRecord`, a line with its newline under both. The stream is the caller's to close.
    RecordReader open(InputStream object) {
        var frames = batchStrategy == BatchStrategy.MULTI_RECORD ? Frames.KEPT : Frames.STRIPPED;
        return splitType.open(object, frames, maxRecord());
    }

    boolean isUnlimited() {
        return maxPayload == 0;
    }

    /// The bytes that one record may have: it must fit into a request, and into memory.
    int maxRecord() {
        return (int) (isUnlimited() ? LARGEST_LIMIT : Math.min(maxPayload, LONGEST_ARRAY));
    }

    /// Whether a request may hold several records.
    boolean isMultiRecord() {
        return splitType.isSplit() && batchStrategy == BatchStrategy.MULTI_RECORD;
    }
}
