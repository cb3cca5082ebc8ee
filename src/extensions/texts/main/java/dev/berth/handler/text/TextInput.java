package dev.berth.handler.text;

import com.fasterxml.jackson.databind.JsonNode;
import dev.berth.content.Excerpt;
import dev.berth.handler.task.TaskInput;
import java.util.Optional;

/// One input: a text, or a pair of texts.
///
/// @param isTextAlone whether it is the only one of a body, and not written as `{"text": …}`
public record TextInput(String text, Optional<String> pair, boolean isTextAlone) {

    /// Reads `"…"` or `{"text": "…", "text_pair": "…"}`.
    ///
    /// @param takesPairs whether the task knows pairs
    static TextInput read(TaskInput<?> input, boolean takesPairs) {
        var json = input.json();
        var name = input.name();
        if (json.isTextual()) {
            return new TextInput(json.textValue(), Optional.empty(), input.alone());
        }
        if (!json.isObject()) {
            throw Excerpt.bad(
                    name, json, "a text or {\"text\": …%s}".formatted(takesPairs ? ", \"text_pair\": …" : ""));
        }
        if (!json.has("text")) {
            throw input.without("text");
        }
        var pair = json.path("text_pair");
        if (!takesPairs && json.has("text_pair")) {
            throw Excerpt.bad(name + ".text_pair", pair, "one text: this task takes no pairs");
        }
        return new TextInput(
                text(json.path("text"), name + ".text"),
                pair.isMissingNode() || pair.isNull()
                        ? Optional.empty()
                        // As tokenizers do, of which an empty second text makes no pair.
                        : Optional.of(text(pair, name + ".text_pair")).filter(second -> !second.isEmpty()),
                false);
    }

    private static String text(JsonNode json, String name) {
        if (!json.isTextual()) {
            throw Excerpt.bad(name, json, "a text");
        }
        return json.textValue();
    }
}
