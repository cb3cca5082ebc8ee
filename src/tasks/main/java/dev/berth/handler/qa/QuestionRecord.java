package dev.berth.handler.qa;

import dev.berth.tokenizer.Tokens;
import java.util.List;

/// A record on its way to the model: a question with its tokens, or a bad record that keeps its
/// place among the others.
public sealed interface QuestionRecord {

    /// @param questionIds the question's tokens, cut to `max_question_len`
    /// @param context the context's tokens, all of them
    /// @param windows all that the context is read through; some of them where this is a piece of a
    ///   record
    record Encoded(Question question, long[] questionIds, Tokens context, Windows windows) implements QuestionRecord {

        /// The same question, asked for so many answers.
        Encoded withTopK(int topK) {
            return new Encoded(question.withTopK(topK), questionIds, context, windows);
        }

        /// The same question, in pieces of up to `most` windows.
        List<QuestionRecord> pieces(int most) {
            return windows.pieces(most).stream()
                    .<QuestionRecord>map(some -> new Encoded(question, questionIds, context, some))
                    .toList();
        }

        /// Whether it is a piece of a record.
        boolean isPiece() {
            return !windows.areAll();
        }
    }

    /// @param message what is wrong with it
    record Rejected(String message) implements QuestionRecord {}
}
