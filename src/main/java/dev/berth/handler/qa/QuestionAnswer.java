package dev.berth.handler.qa;

import java.util.List;

/// What became of one record: its answers, or why it has none.
public sealed interface QuestionAnswer {

  /// @param answers the best first, never none
  /// @param listed whether the caller asked for several and so gets a list even of one
  /// @param alone whether the question came as one JSON object
  record Answered(List<Answer> answers, boolean listed, boolean alone) implements QuestionAnswer {
    public Answered {
      answers = List.copyOf(answers);
    }
  }

  /// @param message what was wrong with the record
  record Rejected(String message) implements QuestionAnswer {}
}
