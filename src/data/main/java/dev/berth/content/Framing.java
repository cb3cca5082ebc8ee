package dev.berth.content;

import dev.berth.content.RecordReader.Frames;
import java.io.InputStream;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicBoolean;

/// What splits a stream into records.
public enum Framing {
    /// Nothing. The whole stream is one record.
    NONE((input, _, maxBytes) -> whole(input, maxBytes)),
    /// A newline at the end of each record.
    LINES((input, _, maxBytes) -> new LineReader(input, maxBytes)),
    RECORD_IO(RecordIo.Reader::new),
    TF_RECORD(TfRecord.Reader::new);

    @FunctionalInterface
    private interface Opener {
        RecordReader open(InputStream input, Frames frames, int maxBytes);
    }

    private final Opener opener;

    Framing(Opener opener) {
        this.opener = opener;
    }

    /// Opens a reader of the stream's records. The stream is the caller's to close.
    ///
    /// @param maxBytes the bytes that a record can have as it is given
    public RecordReader open(InputStream input, Frames frames, int maxBytes) {
        return opener.open(input, frames, maxBytes);
    }

    /// There is one record even where the stream is empty, as in SageMaker's local mode.
    private static RecordReader whole(InputStream input, int maxBytes) {
        var isRead = new AtomicBoolean();
        return () -> {
            if (isRead.getAndSet(true)) {
                return Optional.empty();
            }
            var record = input.readNBytes(maxBytes + 1);
            if (record.length > maxBytes) {
                throw LineReader.tooLong(1, maxBytes);
            }
            return Optional.of(record);
        };
    }
}
