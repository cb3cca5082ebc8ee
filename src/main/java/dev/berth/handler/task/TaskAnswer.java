package dev.berth.handler.text;

/// What became of one record: its answer, or why it has none.
public sealed interface TextAnswer {

  /// @param document plain Java, as it is written as JSON
  /// @param alone whether the record came as the only input of a body
  record Answered(Object document, boolean alone) implements TextAnswer {}

  /// @param message what was wrong with the record
  record Rejected(String message) implements TextAnswer {}
}
