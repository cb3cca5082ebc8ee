package dev.berth.transform;

import dev.berth.content.RecordIo;
import dev.berth.content.RecordReader;
import dev.berth.content.RecordReader.Frames;
import dev.berth.content.TfRecord;
import java.io.InputStream;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicBoolean;

/// `TransformInput.SplitType`: where the records of an object end.
enum SplitType {
    /// The whole object is one record.
    NONE("None"),
    /// At each newline.
    LINE("Line"),
    RECORD_IO("RecordIO"),
    TF_RECORD("TFRecord");

    private final String word;

    SplitType(String word) {
        this.word = word;
    }

    /// Whether an object may have several records.
    boolean isSplit() {
        return this != NONE;
    }

    /// Whether each record is a line of text, with its newline.
    boolean areLines() {
        return this == LINE;
    }

    /// Opens a reader of an object's records. The stream is the caller's to close.
    ///
    /// @param frames whether the records keep what is around them
    /// @param maxBytes the bytes that a record can have as it is given; a longer one is bad input
    RecordReader open(InputStream object, Frames frames, int maxBytes) {
        return switch (this) {
            case NONE -> whole(object, maxBytes);
            case LINE -> new LineReader(object, maxBytes);
            case RECORD_IO -> RecordIo.open(object, frames, maxBytes);
            case TF_RECORD -> TfRecord.open(object, frames, maxBytes);
        };
    }

    /// As the API spells it.
    @Override
    public String toString() {
        return word;
    }

    /// There is one record even where the object is empty, as in SageMaker's local mode.
    private static RecordReader whole(InputStream object, int maxBytes) {
        var isRead = new AtomicBoolean();
        return () -> {
            if (isRead.getAndSet(true)) {
                return Optional.empty();
            }
            var record = object.readNBytes(maxBytes + 1);
            if (record.length > maxBytes) {
                throw LineReader.tooLong(1, maxBytes);
            }
            return Optional.of(record);
        };
    }
}
