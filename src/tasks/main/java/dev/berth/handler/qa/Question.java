package dev.berth.handler.qa;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import dev.berth.content.Excerpt;
import dev.berth.handler.task.TaskInput;
import dev.berth.hooks.BadInputException;
import java.util.stream.Stream;

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
            throw Excerpt.bad(input.name(), json, "an object with question and context");
        }
        long known = Stream.of("question", "context").filter(json::has).count();
        if (known < 2 && json.size() > known) {
            throw input.without("question and context");
        }
        return new Question(name, text(json, name, "question"), text(json, name, "context"));
    }

    /// `{"question": […], "context": …}` as a list of records: several questions about one context,
    /// or each about its own.
    ///
    /// @param name what messages call the inputs of a body
    static JsonNode listed(JsonNode inputs, String name) {
        var questions = inputs.path("question");
        if (!questions.isArray()) {
            return inputs;
        }
        var contexts = inputs.path("context");
        if (contexts.isArray() && contexts.size() != questions.size()) {
            throw new BadInputException("%s: found %d for %d questions, expected as many, or one text for all"
                    .formatted(field(name.equals("body") ? "" : name, "context"), contexts.size(), questions.size()));
        }
        var records = JsonNodeFactory.instance.arrayNode(questions.size());
        for (int i = 0; i < questions.size(); i++) {
            var record = records.addObject();
            record.set("question", questions.path(i));
            if (inputs.has("context")) {
                record.set("context", contexts.isArray() ? contexts.path(i) : contexts);
            }
        }
        return records;
    }

    /// The field's full name in messages.
    static String field(String name, String field) {
        return name.isEmpty() ? field : name + (name.endsWith("]") || name.equals("inputs") ? "." : ": ") + field;
    }

    private static String text(JsonNode json, String name, String field) {
        var value = json.path(field);
        if (!value.isTextual()) {
            throw Excerpt.bad(field(name, field), value, "a text");
        }
        return value.textValue();
    }

    private static void checkText(String name, String field, String text) {
        if (text.isBlank()) {
            throw new BadInputException("%s: found %s, expected a text that is not blank"
                    .formatted(field(name, field), Excerpt.quoted(text)));
        }
    }
}
