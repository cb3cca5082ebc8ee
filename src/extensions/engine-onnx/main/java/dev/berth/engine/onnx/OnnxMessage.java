package dev.berth.engine.onnx;

import static java.util.Map.entry;

import com.google.protobuf.CodedInputStream;
import com.google.protobuf.InvalidProtocolBufferException;
import com.google.protobuf.WireFormat;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

/// A message of an ONNX file: those of its fields that are read here, in their order. Weights are
/// none of them.
final class OnnxMessage {

    /// What a field holds: a message of `onnx.proto`, or a value.
    enum Kind {
        MODEL,
        TRAINING,
        FUNCTION,
        GRAPH,
        NODE,
        ATTRIBUTE,
        TENSOR,
        SPARSE_TENSOR,
        EXTERNAL_DATA,
        VALUE_INFO,
        TYPE,
        TENSOR_TYPE,
        SHAPE,
        DIMENSION,
        TEXT,
        NUMBER;

        private static final Map<Kind, Map<Integer, Kind>> FIELDS = Map.ofEntries(
                entry(MODEL, Map.of(7, GRAPH, 20, TRAINING, 25, FUNCTION)),
                entry(TRAINING, Map.of(1, GRAPH, 2, GRAPH)),
                entry(FUNCTION, Map.of(1, TEXT, 7, NODE, 10, TEXT, 11, ATTRIBUTE)),
                entry(GRAPH, Map.of(1, NODE, 5, TENSOR, 11, VALUE_INFO, 12, VALUE_INFO, 15, SPARSE_TENSOR)),
                entry(NODE, Map.of(1, TEXT, 2, TEXT, 4, TEXT, 5, ATTRIBUTE, 7, TEXT)),
                entry(
                        ATTRIBUTE,
                        Map.of(5, TENSOR, 6, GRAPH, 10, TENSOR, 11, GRAPH, 22, SPARSE_TENSOR, 23, SPARSE_TENSOR)),
                entry(TENSOR, Map.of(1, NUMBER, 2, NUMBER, 8, TEXT, 13, EXTERNAL_DATA)),
                entry(SPARSE_TENSOR, Map.of(1, TENSOR, 2, TENSOR)),
                entry(EXTERNAL_DATA, Map.of(1, TEXT, 2, TEXT)),
                entry(VALUE_INFO, Map.of(1, TEXT, 2, TYPE)),
                entry(TYPE, Map.of(1, TENSOR_TYPE)),
                entry(TENSOR_TYPE, Map.of(1, NUMBER, 2, SHAPE)),
                entry(SHAPE, Map.of(1, DIMENSION)),
                entry(DIMENSION, Map.of(1, NUMBER, 2, TEXT)));

        /// What is read of such a message, by the number of the field.
        Map<Integer, Kind> fields() {
            return FIELDS.getOrDefault(this, Map.of());
        }
    }

    /// It may be a good message, but takes too much.
    static final class TooMuchException extends IOException {
        TooMuchException(String message) {
            super(message);
        }
    }

    private record Field(int number, Object value) {}

    private final Kind kind;
    private final List<Field> fields = new ArrayList<>(2);

    private OnnxMessage(Kind kind) {
        this.kind = kind;
    }

    /// @throws TooMuchException when it must not be loaded
    static OnnxMessage read(Path file) throws IOException {
        try (var content = Files.newInputStream(file)) {
            return new Reader(CodedInputStream.newInstance(content)).message(Kind.MODEL, 0);
        }
    }

    /// Reads one file. That may mean harm: how deep messages are in each other, how long a text is and
    /// how much is kept are limited.
    private static final class Reader {

        /// ONNX Runtime's own reader refuses more too, and would end the process without a limit.
        private static final int DEEPEST = 100;

        /// Of a name or a path: nothing else is read as a text.
        private static final int LONGEST_TEXT = 1 << 16;

        /// What may be kept of a file, in bytes.
        private static final long MOST_KEPT = Runtime.getRuntime().maxMemory() / 4;

        /// What a field takes, about, besides the characters of a text.
        private static final int FIELD = 128;

        private final CodedInputStream in;
        private long kept;

        Reader(CodedInputStream in) {
            this.in = in;
        }

        /// The fields up to the end of the message, or of the file.
        OnnxMessage message(Kind kind, int depth) throws IOException {
            if (depth > DEEPEST) {
                throw new InvalidProtocolBufferException("nested too deeply");
            }
            var message = new OnnxMessage(kind);
            for (int tag = in.readTag(); tag != 0; tag = in.readTag()) {
                int number = WireFormat.getTagFieldNumber(tag);
                int form = WireFormat.getTagWireType(tag);
                var field = kind.fields().get(number);
                if (field != null && form == WireFormat.WIRETYPE_LENGTH_DELIMITED) {
                    readField(message, number, field, depth);
                } else if (field == Kind.NUMBER && form == WireFormat.WIRETYPE_VARINT) {
                    add(message, number, in.readInt64());
                } else if (!in.skipField(tag)) {
                    throw new InvalidProtocolBufferException("the end of what has not begun");
                }
            }
            return message;
        }

        /// A text, a message, or several numbers: the length comes first.
        private void readField(OnnxMessage message, int number, Kind field, int depth) throws IOException {
            int size = in.readRawVarint32();
            if (field == Kind.TEXT) {
                if (size > LONGEST_TEXT) {
                    throw new TooMuchException(
                            "found a name of %d bytes, expected at most %d".formatted(size, LONGEST_TEXT));
                }
                // A character may take two.
                keep(2 * size);
                add(message, number, new String(in.readRawBytes(size), StandardCharsets.UTF_8));
                return;
            }
            int end = in.pushLimit(size);
            if (field != Kind.NUMBER) {
                var inner = message(field, depth + 1);
                // Most attributes are numbers, of which nothing is read.
                if (field != Kind.ATTRIBUTE || !inner.fields.isEmpty()) {
                    add(message, number, inner);
                }
            }
            while (field == Kind.NUMBER && in.getBytesUntilLimit() > 0) {
                add(message, number, in.readInt64());
            }
            if (in.getBytesUntilLimit() != 0) {
                throw new InvalidProtocolBufferException("the file ends in the middle");
            }
            in.popLimit(end);
        }

        private void add(OnnxMessage message, int number, Object value) throws IOException {
            keep(FIELD);
            message.fields.add(new Field(number, value));
        }

        private void keep(int bytes) throws IOException {
            kept += bytes;
            if (kept > MOST_KEPT) {
                throw new TooMuchException(
                        "its names and shapes take more than %d MB of the heap; raise -Xmx in JAVA_OPTS"
                                .formatted(MOST_KEPT >> 20));
            }
        }
    }

    Stream<OnnxMessage> messages(int number) {
        return values(number, OnnxMessage.class);
    }

    Stream<Long> numbers(int number) {
        return values(number, Long.class);
    }

    Stream<String> texts(int number) {
        return values(number, String.class);
    }

    /// The number of a field, of which the last one counts; 0 where there is none.
    int number(int number) {
        return numbers(number).reduce(0L, (_, last) -> last).intValue();
    }

    /// The text of a field, of which the last one counts; empty where there is none.
    String text(int number) {
        return texts(number).reduce("", (_, last) -> last);
    }

    private <T> Stream<T> values(int number, Class<T> type) {
        return fields.stream().filter(field -> field.number == number).map(field -> type.cast(field.value));
    }

    /// The messages of a kind in this one, but for those inside of each other.
    Stream<OnnxMessage> outermost(Kind wanted) {
        return fields.stream()
                .map(Field::value)
                .filter(OnnxMessage.class::isInstance)
                .map(OnnxMessage.class::cast)
                .flatMap(message -> message.kind == wanted ? Stream.of(message) : message.outermost(wanted));
    }

    Stream<OnnxMessage> all(Kind wanted) {
        return outermost(wanted).flatMap(message -> Stream.concat(Stream.of(message), message.all(wanted)));
    }
}
