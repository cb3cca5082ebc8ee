package dev.berth.transform;

import dev.berth.content.Framing;
import dev.berth.content.RecordReader;
import dev.berth.content.RecordReader.Frames;
import java.io.InputStream;

/// The types of splitting that SageMaker has.
enum FramedSplit implements SplitType {
    /// The whole object is one record.
    NONE("None", Framing.NONE),
    /// At each newline.
    LINE("Line", Framing.LINES),
    /// [dev.berth.content.RecordIo].
    RECORD_IO("RecordIO", Framing.RECORD_IO),
    /// [dev.berth.content.TfRecord].
    TF_RECORD("TFRecord", Framing.TF_RECORD);

    private final String word;
    private final Framing framing;

    FramedSplit(String word, Framing framing) {
        this.word = word;
        this.framing = framing;
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
        return framing.open(object, frames, maxBytes);
    }

    @Override
    public String toString() {
        return word;
    }
}
