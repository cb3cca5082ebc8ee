package dev.berth.handler.qa;

import dev.berth.tokenizer.Tokens;

/// A record on its way to the model: a question with its tokens, or a bad record that keeps its place among the others.
public sealed interface QuestionRecord {

  /// @param questionIds the question's tokens, cut to `max_question_len`
  /// @param context the context's tokens, all of them
  record Encoded(Question question, long[] questionIds, Tokens context, Windows windows) implements QuestionRecord {

    /// The same question, asked for so many answers.
    Encoded withTopK(int topK) {
      return new Encoded(question.withTopK(topK), questionIds, context, windows);
    }
  }

  /// @param message what is wrong with it
  record Rejected(String message) implements QuestionRecord {}
}
