import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.berth.openai.Reply;
import java.util.List;

/// What is said of a part, or of the whole: in OpenAI's form, or in that of
/// text-generation-inference.
final class Answers {

    private Answers() {}

    /// One event of a stream.
    ///
    /// @param choice the number of its text
    static ObjectNode event(Part part, int choice, Form form) {
        var reply = form.reply();
        return switch (part) {
            case Part.Begin _ -> reply.orElseThrow().begin(choice);
            case Part.Text(var _, var _, String text)
            when reply.isPresent() -> reply.get().chunk(choice, text, null);
            case Part.End end when reply.isPresent() -> reply.get().chunk(choice, "", reason(end));
            case Part.Usage(var usage) -> reply.orElseThrow().usage(usage);
            case Part.Text(int index, long id, String text) -> {
                var event = object().put("index", index);
                event.putObject("token").put("id", id).put("text", text);
                yield event.putNull("generated_text").putNull("details");
            }
            case Part.End end -> with(end, object().put("index", end.ids().size()));
            case Part.Done _ -> throw new IllegalArgumentException("the end of a stream is no object");
        };
    }

    /// The whole answer.
    static ObjectNode whole(List<Part.End> ends, Form form) {
        return form.reply()
                .map(reply -> reply.whole(
                        ends.stream()
                                .map(end -> new Reply.Text(end.text(), reason(end)))
                                .toList(),
                        Form.usage(ends, form.choices())))
                .orElseGet(() -> with(ends.getFirst(), object()));
    }

    private static ObjectNode with(Part.End end, ObjectNode answer) {
        answer.put("generated_text", end.text())
                .putObject("details")
                .put(
                        "finish_reason",
                        switch (end.reason()) {
                            case END_OF_TEXT -> "eos_token";
                            case STOP -> "stop_sequence";
                            case LENGTH -> "length";
                        })
                .put("generated_tokens", end.ids().size())
                .put("prompt_tokens", end.promptTokens())
                .put("cached_tokens", end.cachedTokens())
                .putPOJO("token_ids", end.ids());
        return answer;
    }

    private static String reason(Part.End end) {
        return end.reason() == Part.Reason.LENGTH ? "length" : "stop";
    }

    private static ObjectNode object() {
        return JsonNodeFactory.instance.objectNode();
    }
}
