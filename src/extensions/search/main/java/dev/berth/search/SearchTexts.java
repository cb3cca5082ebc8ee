package dev.berth.search;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.TextNode;
import dev.berth.content.Excerpt;
import dev.berth.content.Fields;
import dev.berth.handler.text.TextForm;
import dev.berth.hooks.BadInputException;
import java.util.List;

/// The texts of a request of a search engine.
///
/// @param field what the request calls them
record SearchTexts(String field, List<TextNode> texts, boolean isOne) {

    /// In a request. OpenAI's API takes as many.
    private static final int MOST = 2048;

    /// Characters of a text. Hardly a model reads more than a tenth of it, and what it does not read is not found.
    private static final int LONGEST = 100_000;

    /// A text or a list of at least one.
    ///
    /// @throws BadInputException when there are too many, or one is empty or too long
    static SearchTexts read(Fields fields, String field) {
        var json = fields.json(field);
        if (json.isTextual()) {
            return new SearchTexts(field, List.of(text(json, field)), true);
        }
        if (json.size() > MOST) {
            throw new BadInputException("%s: found %d texts, expected at most %d".formatted(field, json.size(), MOST));
        }
        return new SearchTexts(
                field, Fields.elements(json, field, "a text or a list of texts", SearchTexts::text), false);
    }

    /// A message about what the task gets, by what the caller has sent. Elasticsearch calls parameters settings.
    String named(String message) {
        var named = TextForm.named(message, field, isOne);
        return field.equals("input")
                ? named.replaceFirst("^parameters\\b", "task_settings").replace("\"parameters\"", "\"task_settings\"")
                : named;
    }

    /// @throws BadInputException when it is none, or empty or too long
    static TextNode text(JsonNode json, String name) {
        if (!(json instanceof TextNode text) || text.textValue().isBlank()) {
            throw Excerpt.bad(name, json, "a text that is not empty");
        }
        int length = text.textValue().length();
        if (length > LONGEST) {
            throw new BadInputException(
                    "%s: found %d characters, expected at most %d, as a model reads the beginning only; split it into passages"
                            .formatted(name, length, LONGEST));
        }
        return text;
    }
}
