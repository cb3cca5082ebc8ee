package dev.berth.openai;

import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.berth.content.Fields;
import dev.berth.content.Json;
import dev.berth.hooks.InvocationRequest;
import dev.berth.hooks.MediaType;
import java.time.Instant;
import java.util.List;

/// How written texts are answered: as a whole, or in chunks, which end with [#DONE]. A handler that
/// has more to say, such as `tool_calls`, adds it to what this makes.
///
/// @param chat whether it is a chat's, or a completion's
/// @param model the name that the caller gave
/// @param created when the request came, in seconds since 1970
/// @param stream whether chunks are asked for
/// @param wantsUsage whether chunks are followed by [#usage]
public record Reply(boolean chat, String id, String model, long created, boolean stream, boolean wantsUsage) {

    /// What follows the last chunk.
    public static final String DONE = "[DONE]";

    /// What was written for one choice.
    ///
    /// @param finishReason `stop`, or `length` where it was cut
    public record Text(String text, String finishReason) {}

    /// How many tokens a request had.
    ///
    /// @param cached those of the prompts that were not read again
    public record Usage(int prompt, int completion, int cached) {}

    static Reply to(InvocationRequest request, Fields fields, boolean chat) {
        var idle = Json.parse("{\"include_obfuscation\": []}", "fields");
        var options = Fields.of(fields.json("stream_options"), "stream_options", List.of("include_usage"), idle);
        return new Reply(
                chat,
                (chat ? "chatcmpl-" : "cmpl-") + request.inferenceId(),
                fields.text("model").orElse("model"),
                Instant.now().getEpochSecond(),
                fields.bool("stream", request.accept().sameTypeAs(MediaType.EVENT_STREAM)),
                options.bool("include_usage", false));
    }

    /// @param texts one for each choice
    public ObjectNode whole(List<Text> texts, Usage usage) {
        var answer = head("");
        for (var text : texts) {
            var choice = choice(answer, answer.path("choices").size());
            var message = chat ? choice.putObject("message").put("role", "assistant") : choice;
            message.put(chat ? "content" : "text", text.text);
            if (chat) {
                message.putNull("refusal");
            }
            choice.put("finish_reason", text.finishReason);
        }
        return with(answer, usage);
    }

    /// The first chunk of a choice of a chat. Completions have none.
    public ObjectNode begin(int index) {
        var chunk = chunk(index, "", null);
        chunk.withObject("/choices/0/delta").put("role", "assistant");
        return chunk;
    }

    /// More of a choice.
    ///
    /// @param text empty at its end
    /// @param finishReason null before its end
    public ObjectNode chunk(int index, String text, String finishReason) {
        var chunk = head(".chunk");
        var choice = choice(chunk, index);
        if (!chat) {
            choice.put("text", text);
        } else if (finishReason == null) {
            choice.putObject("delta").put("content", text);
        } else {
            choice.putObject("delta");
        }
        choice.put("finish_reason", finishReason);
        return chunk;
    }

    /// The chunk in front of the end, where it [is asked for][#wantsUsage].
    public ObjectNode usage(Usage usage) {
        return with(head(".chunk"), usage);
    }

    private ObjectNode head(String chunk) {
        var head = JsonNodeFactory.instance
                .objectNode()
                .put("id", id)
                .put("object", chat ? "chat.completion" + chunk : "text_completion")
                .put("created", created)
                .put("model", model);
        head.putArray("choices");
        return head;
    }

    private static ObjectNode choice(ObjectNode answer, int index) {
        return answer.withArray("choices").addObject().put("index", index).putNull("logprobs");
    }

    private static ObjectNode with(ObjectNode answer, Usage usage) {
        answer.putObject("usage")
                .put("prompt_tokens", usage.prompt)
                .put("completion_tokens", usage.completion)
                .put("total_tokens", usage.prompt + usage.completion)
                .putObject("prompt_tokens_details")
                .put("cached_tokens", usage.cached);
        return answer;
    }
}
