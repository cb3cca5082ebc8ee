package dev.berth.transform;

import dev.berth.content.RecordReader;
import dev.berth.content.RecordReader.Frames;
import java.io.InputStream;
import java.util.Optional;

/// `TransformInput.SplitType`: where the records of an object end. [java.util.ServiceLoader] finds those of
/// extensions, such as the elements of XML, beside those of SageMaker.
///
/// A job chooses one before any object is opened, and opens a reader for each object on a thread of
/// its own.
public interface SplitType {

    /// The word that a job chooses it by, as the API spells it. With a value of its option it says
    /// that too: the outputs of an earlier run only count where this is the same.
    @Override
    String toString();

    /// Whether an object may have several records.
    default boolean isSplit() {
        return true;
    }

    /// Whether each record is a line of text, with its newline.
    default boolean areLines() {
        return false;
    }

    /// A flag of the command, for this type alone.
    default Optional<Option> option() {
        return Optional.empty();
    }

    /// The same with a value of that option.
    ///
    /// @throws IllegalArgumentException saying what was found and expected
    default SplitType with(String value) {
        throw new IllegalArgumentException("found %s, expected none".formatted(value));
    }

    /// Opens a reader of an object's records. The stream is the caller's to close.
    ///
    /// @param frames whether the records keep what is around them
    /// @param maxBytes the bytes that a record can have as it is given; a longer one is bad input
    RecordReader open(InputStream object, Frames frames, int maxBytes);

    /// A flag.
    ///
    /// @param name with its dashes
    /// @param label what stands for the value
    record Option(String name, String label, String meaning) {}
}
