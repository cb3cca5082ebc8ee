package dev.berth.transform;

import dev.berth.content.RecordIo;
import dev.berth.content.RecordReader;
import dev.berth.content.RecordReader.Frames;
import dev.berth.content.TfRecord;
import java.io.InputStream;
import java.util.List;
import java.util.Optional;
import java.util.ServiceLoader;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.stream.Stream;

/// The types of splitting that SageMaker has.
public enum FramedSplit implements SplitType {
    /// The whole object is one record.
    NONE("None", (object, _, maxBytes) -> whole(object, maxBytes)),
    /// At each newline.
    LINE("Line", (object, _, maxBytes) -> new LineReader(object, maxBytes)),
    RECORD_IO("RecordIO", RecordIo::open),
    TF_RECORD("TFRecord", TfRecord::open);

    private final String word;
    private final SplitType opener;

    FramedSplit(String word, SplitType opener) {
        this.word = word;
        this.opener = opener;
    }

    /// With those of extensions.
    public static List<SplitType> all() {
        return Stream.concat(
                        Stream.<SplitType>of(values()),
                        ServiceLoader.load(SplitType.class, SplitType.class.getClassLoader()).stream()
                                .map(ServiceLoader.Provider::get))
                .toList();
    }

    @Override
    public boolean isSplit() {
        return this != NONE;
    }

    @Override
    public boolean areLines() {
        return this == LINE;
    }

    @Override
    public RecordReader open(InputStream object, Frames frames, int maxBytes) {
        return opener.open(object, frames, maxBytes);
    }

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
