package dev.berth.handler.text;

import com.fasterxml.jackson.databind.JsonNode;
import dev.berth.content.Excerpt;
import java.util.Optional;

/// One input: a text, or a pair of texts.
///
/// @param isObject whether it was written as `{"text": …}`
public record TextInput(String text, Optional<String> pair, boolean isObject) {

    /// Reads `"…"` or `{"text": "…", "text_pair": "…"}`.
    ///
    /// @param name what messages call it
    /// @param takesPairs whether the task knows pairs
    static TextInput read(JsonNode json, String name, boolean takesPairs) {
        if (json.isTextual()) {
            return new TextInput(json.textValue(), Optional.empty(), false);
        }
        if (!json.isObject()) {
            throw Excerpt.bad(
                    name, json, "a text or {\"text\": …%s}".formatted(takesPairs ? ", \"text_pair\": …" : ""));
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
                true);
    }

    private static String text(JsonNode json, String name) {
        if (!json.isTextual()) {
            throw Excerpt.bad(name, json, "a text");
        }
        return json.textValue();
    }
}
