package dev.berth.handler.qa;

import com.fasterxml.jackson.databind.JsonNode;
import dev.berth.content.Excerpt;
import dev.berth.handler.task.TaskInput;
import dev.berth.hooks.BadInputException;

/// One record as the caller wrote it: a question about a context.
///
/// @param name what to call the record in messages, such as `line 3` or `[2]`; empty for the only
///   one
public record Question(String name, String question, String context) {

    public Question {
        checkText(name, "question", question);
        checkText(name, "context", context);
    }

    /// Reads `{"question": …, "context": …}`; other members do not matter.
    static Question read(TaskInput<?> input) {
        var name = input.name().equals("body") ? "" : input.name();
        var json = input.json();
        if (!json.isObject()) {
            throw new BadInputException("%s: found %s, expected an object with question and context"
                    .formatted(input.name(), Excerpt.of(json)));
        }
        return new Question(name, text(json, name, "question"), text(json, name, "context"));
    }

    /// The field's full name in messages.
    static String field(String name, String field) {
        return name.isEmpty() ? field : name + (name.endsWith("]") || name.equals("inputs") ? "." : ": ") + field;
    }

    private static String text(JsonNode json, String name, String field) {
        var value = json.path(field);
        if (value.isMissingNode()) {
            throw new BadInputException("%s: found nothing among the members %s, expected a text"
                    .formatted(field(name, field), Excerpt.quoted(String.join(", ", (Iterable<String>)
                            json::fieldNames))));
        }
        if (!value.isTextual()) {
            throw new BadInputException(
                    "%s: found %s, expected a text".formatted(field(name, field), Excerpt.of(value)));
        }
        return value.textValue();
    }

    /// Unpaired surrogates come from JSON escapes such as `"\ud83d"`: they are no text, and no
    /// tokenizer counts them as one code point.
    private static void checkText(String name, String field, String text) {
        if (text.isBlank()) {
            throw new BadInputException("%s: found %s, expected a text that is not blank"
                    .formatted(field(name, field), Excerpt.quoted(text)));
        }
        for (int i = 0; i < text.length(); i++) {
            var c = text.charAt(i);
            if (Character.isHighSurrogate(c) && i + 1 < text.length() && Character.isLowSurrogate(text.charAt(i + 1))) {
                i++;
            } else if (Character.isSurrogate(c)) {
                throw new BadInputException(
                        "%s: found the unpaired surrogate \\u%04x at character %d, expected Unicode text"
                                .formatted(field(name, field), (int) c, text.codePointCount(0, i)));
            }
        }
    }
}
