package dev.berth.engine.onnx;

import com.google.protobuf.CodedInputStream;
import com.google.protobuf.InvalidProtocolBufferException;
import com.google.protobuf.WireFormat;
import dev.berth.engine.onnx.OnnxMessage.Kind;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;

/// Reads those fields of an ONNX file that are needed, and skips the others. The file may mean harm:
/// how deep messages are in each other, how long a text is and how much is kept are limited. Used by
/// one thread.
final class ProtobufReader {

    /// It may be a good message, but takes too much.
    static final class TooMuchException extends IOException {
        TooMuchException(String message) {
            super(message);
        }
    }

    /// ONNX Runtime's own reader refuses more too, and would end the process without a limit.
    private static final int DEEPEST = 100;

    /// Of a name or a path: nothing else is read as a text.
    private static final int LONGEST_TEXT = 1 << 16;

    /// What may be kept of a file, in bytes.
    private static final long MOST_KEPT = Runtime.getRuntime().maxMemory() / 8;

    /// What a message, a field and a text besides its characters take, about.
    private static final int MESSAGE = 96;

    private static final int FIELD = 32;
    private static final int TEXT = 96;

    private final CodedInputStream in;

    /// Each that was read, as most stand there again: what a node makes is taken by another.
    private final Map<String, String> texts = new HashMap<>();

    private int depth;
    private long kept;

    private ProtobufReader(InputStream content) {
        in = CodedInputStream.newInstance(content);
    }

    /// @throws TooMuchException when it must not be loaded
    static OnnxMessage read(Path file) throws IOException {
        try (var content = Files.newInputStream(file)) {
            return new ProtobufReader(content).fields(Kind.MODEL);
        }
    }

    /// The fields of a message up to its end, which is that of the file at first.
    private OnnxMessage fields(Kind kind) throws IOException {
        var message = new OnnxMessage(kind);
        for (int tag = in.readTag(); tag != 0; tag = in.readTag()) {
            int number = WireFormat.getTagFieldNumber(tag);
            int form = WireFormat.getTagWireType(tag);
            var field = kind.fields().get(number);
            if (field != null && form == WireFormat.WIRETYPE_LENGTH_DELIMITED) {
                switch (field) {
                    case NUMBER -> numbers(message, number);
                    case TEXT -> add(message, number, text());
                    default -> add(message, number, message(field));
                }
            } else if (field == Kind.NUMBER && form == WireFormat.WIRETYPE_VARINT) {
                add(message, number, in.readInt64());
            } else if (!in.skipField(tag)) {
                throw new InvalidProtocolBufferException("the end of what has not begun");
            }
        }
        return message;
    }

    private void add(OnnxMessage message, int number, Object value) throws IOException {
        if (value instanceof OnnxMessage inner && inner.isIdle()) {
            return;
        }
        keep(value instanceof OnnxMessage ? MESSAGE + FIELD : FIELD);
        message.add(number, value);
    }

    /// A message whose length comes first.
    private OnnxMessage message(Kind kind) throws IOException {
        if (++depth > DEEPEST) {
            throw new InvalidProtocolBufferException("nested too deeply");
        }
        int end = in.pushLimit(in.readRawVarint32());
        var message = fields(kind);
        if (in.getBytesUntilLimit() != 0) {
            throw new InvalidProtocolBufferException("the file ends in the middle");
        }
        in.popLimit(end);
        depth--;
        return message;
    }

    /// Those of a field that has several.
    private void numbers(OnnxMessage message, int number) throws IOException {
        int end = in.pushLimit(in.readRawVarint32());
        while (in.getBytesUntilLimit() > 0) {
            add(message, number, in.readInt64());
        }
        in.popLimit(end);
    }

    private String text() throws IOException {
        int size = in.readRawVarint32();
        if (size < 0 || size > LONGEST_TEXT) {
            throw new TooMuchException("found a name of %d bytes, expected at most %d".formatted(size, LONGEST_TEXT));
        }
        var text = new String(in.readRawBytes(size), StandardCharsets.UTF_8);
        var known = texts.putIfAbsent(text, text);
        if (known == null) {
            keep(TEXT + size);
        }
        return known == null ? text : known;
    }

    /// Counts what is kept.
    private void keep(int bytes) throws IOException {
        kept += bytes;
        if (kept > MOST_KEPT) {
            throw new TooMuchException("its names and shapes take more than %d MB of the heap; raise -Xmx in JAVA_OPTS"
                    .formatted(MOST_KEPT >> 20));
        }
    }
}
