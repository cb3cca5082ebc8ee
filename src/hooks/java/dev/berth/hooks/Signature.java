package dev.berth.hooks;

import java.util.List;
import java.util.Objects;
import java.util.Optional;

/// What a handler takes and answers, as named columns of a batch. Clients of the Open Inference
/// Protocol read it with `GET /v2/models/{name}`.
///
/// @param inputs the fields of a record; empty: unknown, so that any are let through
/// @param outputs the fields of a prediction; empty: unknown
public record Signature(List<Column> inputs, List<Column> outputs) {

  /// Of a handler that says nothing.
  public static final Signature UNKNOWN = new Signature(List.of(), List.of());

  /// A field of every record. The first dimension of its column is the records, the others are not
  /// known.
  ///
  /// @param type empty: texts or bytes
  public record Column(String name, Optional<ElementType> type) {

    public Column {
      Objects.requireNonNull(name, "name");
      Objects.requireNonNull(type, "type");
    }

    public static Column of(String name, ElementType type) {
      return new Column(name, Optional.of(type));
    }

    /// One of texts, or of bytes.
    public static Column ofTexts(String name) {
      return new Column(name, Optional.empty());
    }
  }

  public Signature {
    inputs = List.copyOf(inputs);
    outputs = List.copyOf(outputs);
  }
}
