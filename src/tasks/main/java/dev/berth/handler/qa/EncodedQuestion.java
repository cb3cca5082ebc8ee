package dev.berth.handler.qa;

import dev.berth.handler.task.Row;
import dev.berth.tokenizer.RowTemplate;
import dev.berth.tokenizer.Tokens;
import dev.berth.tokenizer.Truncation;
import java.util.List;

/// A question with its tokens, on its way to the model.
///
/// @param asked the question's tokens, cut to `max_question_len`
/// @param context all of the context's
/// @param windows all that the context is read through; some of them where this is a piece of a
///   record
/// @param template of the rows
public record EncodedQuestion(Question question, Tokens asked, Tokens context, Windows windows, RowTemplate template) {

    /// The same question, in pieces of up to `most` windows.
    List<EncodedQuestion> pieces(int most) {
        return windows.pieces(most).stream()
                .map(some -> new EncodedQuestion(question, asked, context, some, template))
                .toList();
    }

    /// What the model reads of a window.
    Row row(int window) {
        var part = context.part(windows.start(window), windows.end(window));
        var row = template.row(List.of(asked, part), Truncation.NONE);
        return new Row(row.ids(), row.typeIds());
    }

    /// Where the context's tokens begin in each row.
    int contextOffset() {
        return template.secondOfPair(asked.size());
    }

    /// What stands in each row beside the context, in tokens.
    int tokensBeside() {
        return template.specialOfPair() + asked.size();
    }

    /// The tokens of all rows.
    int length() {
        return (int) Math.min(Integer.MAX_VALUE, windows.totalTokens() + (long) windows.count() * tokensBeside());
    }
}
