import dev.berth.openai.Reply;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/// How a caller wants the answer, as the body says it.
///
/// @param reply the form of OpenAI's; nothing: that of text-generation-inference, or plain text
/// @param plain whether it is plain text with nothing around it
/// @param stream whether part by part; nothing: the Accept header says it
/// @param texts how many are written
/// @param choices how many of those have the same prompt
/// @param ends of the texts that are written already; guarded by itself
record Form(
        Optional<Reply> reply, boolean plain, Optional<Boolean> stream, int texts, int choices, List<Part.End> ends) {

    static Form of(Reply reply, int prompts, int choices) {
        return new Form(
                Optional.of(reply), false, Optional.of(reply.stream()), prompts * choices, choices, new ArrayList<>());
    }

    boolean isChat() {
        return reply.filter(Reply::chat).isPresent();
    }

    /// Whether every token is a part. In the other forms a part is text.
    boolean hasTokens() {
        return reply.isEmpty() && !plain;
    }

    /// A text has been written; its caller has the end.
    ///
    /// @return whether it is the last one
    boolean isLast(Part.End end) {
        synchronized (ends) {
            ends.add(end);
            return ends.size() == texts;
        }
    }

    /// The tokens of all texts. Choices share a prompt.
    static Reply.Usage usage(List<Part.End> ends, int choices) {
        return new Reply.Usage(
                ends.stream().mapToInt(Part.End::promptTokens).sum() / choices,
                ends.stream().mapToInt(end -> end.ids().size()).sum(),
                ends.stream().mapToInt(Part.End::cachedTokens).sum() / choices);
    }
}
