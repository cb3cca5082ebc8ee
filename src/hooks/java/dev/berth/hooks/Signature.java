package dev.berth.hooks;

import java.util.List;
import java.util.Objects;
import java.util.Optional;

/// What a handler takes and answers, as named columns of a batch. Clients of the Open Inference
/// Protocol read it with `GET /v2/models/{name}`. It may gain parts, and keeps its constructors then.
///
/// @param inputs the fields of a record; empty: unknown, so that any are let through
/// @param outputs the fields of a prediction; empty: unknown
public record Signature(List<Column> inputs, List<Column> outputs) {

    /// Of a handler that says nothing.
    public static final Signature UNKNOWN = new Signature(List.of(), List.of());

    /// A field of every record.
    ///
    /// @param type empty: texts or bytes
    /// @param shape the lengths of a record's dimensions, -1 where they differ from record to record;
    ///   empty: a record has one value there, or nobody knows. The column has the records as another
    ///   dimension in front
    public record Column(String name, Optional<ElementType> type, List<Integer> shape) {

        public Column {
            Objects.requireNonNull(name, "name");
            Objects.requireNonNull(type, "type");
            shape = List.copyOf(shape);
        }

        public static Column of(String name, ElementType type, Integer... shape) {
            return new Column(name, Optional.of(type), List.of(shape));
        }

        /// One of texts, or of bytes.
        public static Column ofTexts(String name, Integer... shape) {
            return new Column(name, Optional.empty(), List.of(shape));
        }
    }

    public Signature {
        inputs = List.copyOf(inputs);
        outputs = List.copyOf(outputs);
    }
}
