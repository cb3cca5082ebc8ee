package dev.berth.content;

import dev.berth.hooks.BadInputException;
import java.io.IOException;
import java.util.Optional;

/// Reads the records of a stream one after the other. Never more than one of them is in memory. For
/// one thread.
@FunctionalInterface
public interface RecordReader {

    /// What a reader gives of a framed record. A line always keeps its newline.
    enum Frames {
        /// The record with the frame around it, byte for byte as it was read.
        KEPT,
        STRIPPED
    }

    /// The next record. Nothing at the end of the stream.
    ///
    /// @throws BadInputException naming the record, counted from 1, when it is broken or too long
    /// @throws IOException when the stream can't be read
    Optional<byte[]> next() throws IOException;

    /// Whether the record that was given last shares no request with the one behind it.
    default boolean endsBatch() {
        return false;
    }
}
