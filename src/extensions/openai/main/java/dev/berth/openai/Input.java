package dev.berth.openai;

import com.fasterxml.jackson.databind.JsonNode;
import dev.berth.content.Documents;
import dev.berth.content.Excerpt;
import dev.berth.content.Fields;
import dev.berth.hooks.BadInputException;
import java.util.List;
import java.util.Optional;

/// A text of a request, or the ids of its tokens.
///
/// @param name what messages call it
public record Input(String name, JsonNode json) implements Documents.Document {

    /// @throws BadInputException when it is neither
    public Input {
        if (!json.isTextual() && !isIds(json)) {
            throw Excerpt.bad(name, json, "a text");
        }
    }

    /// A text or a list of texts, which may be `{"text": …}` as Jina has them; or ids, or a list of
    /// lists of those.
    static List<Input> all(JsonNode json, String name) {
        if (json.isTextual() || isIds(json)) {
            return List.of(new Input(name, json));
        }
        return Fields.elements(
                json, name, "a text or a list of texts", (element, each) -> new Input(each, text(element)));
    }

    private static JsonNode text(JsonNode json) {
        return json.isObject() && json.path("text").isTextual() ? json.path("text") : json;
    }

    private static boolean isIds(JsonNode json) {
        return json.isArray()
                && !json.isEmpty()
                && json.valueStream().allMatch(id -> id.isIntegralNumber() && id.canConvertToInt());
    }

    /// The ids, where it is no text.
    public Optional<long[]> ids() {
        return json.isArray()
                ? Optional.of(json.valueStream().mapToLong(JsonNode::longValue).toArray())
                : Optional.empty();
    }

    /// @throws BadInputException when it is ids
    public String text() {
        if (json.isArray()) {
            throw new BadInputException(
                    name + ": found token ids, expected a text; they are those of another tokenizer");
        }
        return json.textValue();
    }
}
