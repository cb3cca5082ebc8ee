package dev.berth.openai;

import com.fasterxml.jackson.databind.JsonNode;
import dev.berth.content.Excerpt;
import dev.berth.content.Fields;
import dev.berth.content.Json;
import dev.berth.hooks.BadInputException;
import java.util.Collection;
import java.util.List;
import java.util.Optional;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/// A message of a chat.
///
/// @param role `system`, `user` or `assistant`, and `tool` where the model calls tools. A developer
///   is a system to those that write
/// @param content its text, which may be empty
/// @param json as it was sent
public record Message(String role, String content, JsonNode json) {

    private static final JsonNode IDLE = Json.parse("""
          {"name": [], "refusal": [null], "annotations": [[]], "audio": [null], "tool_calls": [[]],
           "function_call": [null], "tool_call_id": [null]}
          """, "fields");

    static List<Message> all(JsonNode messages, Collection<String> does) {
        return Fields.elements(messages, "messages", "a list of messages", (message, name) -> of(message, name, does));
    }

    private static Message of(JsonNode json, String name, Collection<String> does) {
        boolean tools = does.contains("tools");
        var known = Stream.of("role", "content", "tool_calls", "tool_call_id").limit(tools ? 4 : 2);
        var fields = Fields.of(json, name, known.toList(), IDLE);
        var roles = List.of("developer", "system", "user", "assistant", "tool");
        var role = fields.word("role", roles.subList(0, tools ? 5 : 4))
                .orElseThrow(() -> fields.bad("role", "one of " + String.join(", ", roles)));
        var content = content(fields, name + ".content", does);
        return new Message(
                role.equals("developer") ? "system" : role,
                role.equals("assistant")
                        ? content.orElse("")
                        : content.orElseThrow(() -> fields.bad("content", "a text")),
                json);
    }

    /// A text, or a list of parts.
    private static Optional<String> content(Fields fields, String name, Collection<String> does) {
        var parts = fields.json("content");
        return parts.isArray()
                ? Optional.of(IntStream.range(0, parts.size())
                        .mapToObj(i -> part(parts.path(i), "%s[%d]".formatted(name, i), does))
                        .collect(Collectors.joining()))
                : fields.text("content");
    }

    private static String part(JsonNode part, String name, Collection<String> does) {
        var type = part.path("type").asText();
        if (does.contains(type)) {
            return "";
        }
        if (!type.equals("text")) {
            throw new BadInputException("%s.type: found %s, expected \"text\", as this model reads nothing else"
                    .formatted(name, Excerpt.of(part.path("type"))));
        }
        return Fields.of(part, name, List.of("type", "text")).requiredText("text");
    }
}
