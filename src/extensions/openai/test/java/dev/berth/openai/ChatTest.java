package dev.berth.openai;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import dev.berth.content.Json;
import dev.berth.hooks.InvocationRequest;
import dev.berth.hooks.MediaType;
import java.io.InputStream;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/// What hooks of a model that can do more get.
class ChatTest {

    private static final List<String> DOES = List.of("tools", "tool_choice", "response_format", "image_url");

    private static Optional<Chat> read(String path, JsonNode body) {
        var request = new InvocationRequest(
                        InputStream.nullInputStream(), MediaType.JSON, MediaType.JSON, Optional.empty(), "id", false)
                .withPath(path, Optional.empty());
        return Chat.of(request, body, DOES);
    }

    @Test
    void theFieldsThatItReadsItselfAreHandedOver() {
        var body = Json.parse("""
            {"model": "mine", "tool_choice": "required", "tools": [{"type": "function"}], "max_tokens": 5,
             "response_format": {"type": "json_object"},
             "messages": [
               {"role": "developer", "content": "Be short."},
               {"role": "user", "content": [{"type": "text", "text": "What is "},
                 {"type": "image_url", "image_url": {"url": "data:"}}, {"type": "text", "text": "this?"}]},
               {"role": "assistant", "content": null, "tool_calls": [{"id": "call_1"}]},
               {"role": "tool", "content": "a cat", "tool_call_id": "call_1"}]}
            """, "body");
        var chat = read("/v1/chat/completions", body).orElseThrow();
        assertThat(chat.messages()).extracting(Message::role).containsExactly("system", "user", "assistant", "tool");
        assertThat(chat.messages())
                .extracting(Message::content)
                .containsExactly("Be short.", "What is this?", "", "a cat");
        assertThat(chat.messages().get(2).json().at("/tool_calls/0/id").textValue())
                .isEqualTo("call_1");
        assertThat(chat.options().fields().json("tools")).isEqualTo(body.path("tools"));
        assertThat(chat.options().maxTokens(100)).isEqualTo(5);
        assertThat(chat.reply().model()).isEqualTo("mine");

        var call = Json.parse("[{\"id\": \"call_2\"}]", "call");
        var whole = chat.reply().whole(List.of(new Reply.Text("", "tool_calls")), new Reply.Usage(4, 2, 1));
        whole.withObject("/choices/0/message").set("tool_calls", call);
        assertThat(whole.at("/choices/0/message/tool_calls")).isEqualTo(call);
        assertThat(whole.at("/usage/total_tokens").intValue()).isEqualTo(6);
    }

    @Test
    void thePathSaysWhatIsAskedAndElsewhereTheBody() {
        var chat = Json.parse("{\"messages\": [{\"role\": \"user\", \"content\": \"a\"}]}", "body");
        assertThat(read("/invocations", chat)).isPresent();
        assertThat(read("/v1/completions", chat)).isEmpty();
        assertThat(read("/invocations", Json.parse("{\"prompt\": \"a\"}", "body")))
                .isEmpty();
        assertThat(read("/invocations", Json.parse("[\"messages\"]", "body"))).isEmpty();
    }
}
