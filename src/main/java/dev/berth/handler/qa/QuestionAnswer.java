package dev.berth.handler.qa;

import java.util.List;

/// What became of one record: its answers, or why it has none.
public sealed interface QuestionAnswer {

  /// @param answers the best first; none where this is of a piece of a record, whose answers `join`
  ///   finds
  /// @param listed whether the caller asked for several and so gets a list even of one
  /// @param alone whether the question came as one JSON object
  /// @param spans what was found in a piece; none where the record was predicted whole
  record Answered(List<Answer> answers, boolean listed, boolean alone, Spans spans)
      implements QuestionAnswer {
    public Answered {
      answers = List.copyOf(answers);
    }

    /// The answers to a whole record.
    public Answered(List<Answer> answers, boolean listed, boolean alone) {
      this(answers, listed, alone, Spans.NONE);
    }
  }

  /// @param message what was wrong with the record
  record Rejected(String message) implements QuestionAnswer {}
}
