import dev.berth.openai.Reply;
import java.util.List;

/// A part of a text on its way.
sealed interface Part {

    /// A chat's answer begins.
    record Begin() implements Part {}

    /// @param index the number of the token, from 1
    /// @param text what may be shown since the last part; of several tokens where the first ones made
    ///   no whole character
    record Text(int index, long id, String text) implements Part {}

    /// All of the text. A streamed answer ends with it, and a whole one is made of it. Plain text
    /// does without.
    ///
    /// @param promptTokens with those that were said before, in a session
    /// @param cachedTokens how many of those the cache had
    record End(String text, List<Long> ids, Reason reason, int promptTokens, int cachedTokens) implements Part {}

    /// The number of tokens of all texts of a request, for those who asked for it.
    record Usage(Reply.Usage tokens) implements Part {}

    /// OpenAI's streams end with the event `[DONE]`.
    record Done() implements Part {}

    enum Reason {
        END_OF_TEXT,
        STOP,
        LENGTH
    }
}
