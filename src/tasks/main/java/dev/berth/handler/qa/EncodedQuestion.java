package dev.berth.handler.qa;

import dev.berth.tokenizer.Encoding;
import dev.berth.tokenizer.RowTemplate;
import dev.berth.tokenizer.Tokens;
import dev.berth.tokenizer.Truncation;
import java.util.List;
import java.util.stream.IntStream;

/// A question with its tokens, on its way to the model.
///
/// @param asked the question's tokens, cut to `max_question_len`
/// @param context all of the context's
/// @param windows all that the context is read through; some of them where this is a piece of a
///   record
/// @param template of the rows
public record EncodedQuestion(Question question, Tokens asked, Tokens context, Windows windows, RowTemplate template) {

    /// The windows through which a context of any length is read, each as large as the model has room
    /// for, overlapping so that an answer at a border is whole in one of them. They are counted and
    /// never listed: a context may have a million.
    ///
    /// @param room the most tokens of a window
    /// @param step how far the next window begins after the last
    /// @param first the number of the first window; 0 unless these are a piece of all
    /// @param count how many there are
    public record Windows(int room, int step, int first, int count) {

        /// @param stride the tokens that neighbouring windows share, less than `room`
        static Windows over(int tokens, int room, int stride) {
            int step = room - stride;
            return new Windows(room, step, 0, tokens <= room ? 1 : 1 + Math.ceilDiv(tokens - room, step));
        }
    }

    /// The same question, in pieces of up to `most` windows.
    List<EncodedQuestion> pieces(int most) {
        return IntStream.range(0, Math.ceilDiv(windows.count, most))
                .map(piece -> piece * most)
                .mapToObj(first -> new Windows(
                        windows.room, windows.step, windows.first + first, Math.min(most, windows.count - first)))
                .map(some -> new EncodedQuestion(question, asked, context, some, template))
                .toList();
    }

    /// Whether the windows cover the context.
    boolean isWhole() {
        return windows.first == 0 && end(windows.count - 1) == context.size();
    }

    /// Where a window begins in the context's tokens.
    int start(int window) {
        return (windows.first + window) * windows.step;
    }

    int end(int window) {
        return (int) Math.min(context.size(), (long) start(window) + windows.room);
    }

    /// What the model reads of a window.
    Encoding row(int window) {
        return template.row(List.of(asked, context.part(start(window), end(window))), Truncation.NONE);
    }

    /// What stands in each row beside the context, in tokens.
    int tokensBeside() {
        return template.specialOfPair() + asked.size();
    }

    /// The most tokens of a row: no window is longer than the first one.
    int longestRow() {
        return tokensBeside() + end(0) - start(0);
    }

    /// The tokens of all rows; those that windows share count in each.
    int length() {
        int last = windows.count - 1;
        return (int) Math.min(
                Integer.MAX_VALUE,
                (long) last * windows.room + end(last) - start(last) + (long) windows.count * tokensBeside());
    }
}
