package dev.berth.engine.onnx;

import com.google.protobuf.CodedInputStream;
import com.google.protobuf.InvalidProtocolBufferException;
import com.google.protobuf.WireFormat;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.util.List;

/// Reads those fields of a message of Protocol Buffers that are needed, and skips the others.
/// Whoever wrote it may mean harm: how deep messages are in each other, how long a text is and how
/// much is kept are limited. Used by one thread.
final class ProtobufReader {

    /// It may be a good message, but takes too much.
    static final class TooMuchException extends IOException {
        TooMuchException(String message) {
            super(message);
        }
    }

    /// Reads a field that is needed, and leaves any other alone.
    @FunctionalInterface
    interface Field {
        /// @param number of a field that has a length; of one that is a number, negated
        void read(int number) throws IOException;
    }

    /// ONNX Runtime's own reader refuses more too, and would end the process without a limit.
    private static final int DEEPEST = 100;

    /// Of a name or a path: nothing else is read as a text.
    private static final int LONGEST_TEXT = 1 << 16;

    /// What may be kept of a file, in bytes.
    private static final long MOST_KEPT = Runtime.getRuntime().maxMemory() / 8;

    /// What an entry of a list or a map takes besides its text, about.
    private static final int ENTRY = 64;

    private final CodedInputStream in;
    private int depth;
    private long kept;

    ProtobufReader(InputStream content) {
        in = CodedInputStream.newInstance(content);
    }

    /// A message whose length comes first.
    void message(Field field) throws IOException {
        if (++depth > DEEPEST) {
            throw new InvalidProtocolBufferException("nested too deeply");
        }
        int end = in.pushLimit(in.readRawVarint32());
        fields(field);
        if (in.getBytesUntilLimit() != 0) {
            throw new InvalidProtocolBufferException("the file ends in the middle");
        }
        in.popLimit(end);
        depth--;
    }

    /// The fields of a message up to its end, which is that of the file at first.
    void fields(Field field) throws IOException {
        for (int tag = in.readTag(); tag != 0; tag = in.readTag()) {
            int number = WireFormat.getTagFieldNumber(tag);
            int begin = in.getTotalBytesRead();
            switch (WireFormat.getTagWireType(tag)) {
                case WireFormat.WIRETYPE_LENGTH_DELIMITED -> field.read(number);
                case WireFormat.WIRETYPE_VARINT -> field.read(-number);
                default -> {}
            }
            boolean isRead = in.getTotalBytesRead() != begin;
            if (!isRead && !in.skipField(tag)) {
                throw new InvalidProtocolBufferException("the end of what has not begun");
            }
        }
    }

    /// The value of a field that is a number.
    long number() throws IOException {
        return in.readInt64();
    }

    /// Adds those of a field that has several.
    void numbers(List<Long> numbers) throws IOException {
        int end = in.pushLimit(in.readRawVarint32());
        while (in.getBytesUntilLimit() > 0) {
            keep(0);
            numbers.add(number());
        }
        in.popLimit(end);
    }

    /// A text that is not kept.
    String text() throws IOException {
        int size = in.readRawVarint32();
        if (size < 0 || size > LONGEST_TEXT) {
            throw new TooMuchException("found a name of %d bytes, expected at most %d".formatted(size, LONGEST_TEXT));
        }
        return new String(in.readRawBytes(size), StandardCharsets.UTF_8);
    }

    /// The length of a text of any length, which is skipped.
    int skipText() throws IOException {
        int size = in.readRawVarint32();
        in.skipRawBytes(size);
        return size;
    }

    /// Counts a text that is kept.
    String keep(String text) throws IOException {
        keep(text.length());
        return text;
    }

    /// Counts an entry that is kept, with a text of this size.
    void keep(int size) throws IOException {
        kept += size + ENTRY;
        if (kept > MOST_KEPT) {
            throw new TooMuchException("its names and shapes take more than %d MB of the heap; raise -Xmx in JAVA_OPTS"
                    .formatted(MOST_KEPT >> 20));
        }
    }
}
