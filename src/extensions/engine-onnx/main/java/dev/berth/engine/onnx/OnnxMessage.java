package dev.berth.engine.onnx;

import static java.util.Map.entry;

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
        OPTIONAL_TYPE,
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
                entry(TYPE, Map.of(1, TENSOR_TYPE, 9, OPTIONAL_TYPE)),
                entry(TENSOR_TYPE, Map.of(1, NUMBER, 2, SHAPE)),
                entry(SHAPE, Map.of(1, DIMENSION)),
                entry(DIMENSION, Map.of(1, NUMBER, 2, TEXT)));

        /// What is read of such a message, by the number of the field.
        Map<Integer, Kind> fields() {
            return FIELDS.getOrDefault(this, Map.of());
        }
    }

    private record Field(int number, Object value) {}

    private final Kind kind;
    private final List<Field> fields = new ArrayList<>(2);

    OnnxMessage(Kind kind) {
        this.kind = kind;
    }

    void add(int number, Object value) {
        fields.add(new Field(number, value));
    }

    /// Whether it is an attribute of which nothing is read, as most are: a number, or several.
    boolean isIdle() {
        return kind == Kind.ATTRIBUTE && fields.isEmpty();
    }

    /// The messages that stand in a field.
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

    /// All messages of a kind in this one.
    Stream<OnnxMessage> all(Kind wanted) {
        return outermost(wanted).flatMap(message -> Stream.concat(Stream.of(message), message.all(wanted)));
    }
}
