package dev.berth.handler.qa;

import dev.berth.tokenizer.Tokens;
import java.util.List;

/// A question with its tokens, on its way to the model.
///
/// @param ids the question's tokens, cut to `max_question_len`
/// @param tokens the context's, all of them
/// @param windows all that the context is read through; some of them where this is a piece of a
///   record
public record EncodedQuestion(Question question, long[] ids, Tokens tokens, Windows windows) {

    /// The same question, in pieces of up to `most` windows.
    List<EncodedQuestion> pieces(int most) {
        return windows.pieces(most).stream()
                .map(some -> new EncodedQuestion(question, ids, tokens, some))
                .toList();
    }
}
