package dev.berth.handler.qa;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import dev.berth.artifact.ModelArtifact;
import dev.berth.artifact.ModelArtifactException;
import dev.berth.content.Excerpt;
import dev.berth.handler.task.InputReader;
import dev.berth.hooks.BadInputException;

/// Reads questions in the forms of all tasks, and in one more. Safe for use by many threads.
final class QuestionReader extends InputReader<Parameters> {

    private static final String FORMS =
            "expected {\"question\": …, \"context\": …}, a list of those, or {\"inputs\": …," + " \"parameters\": …}";

    /// @throws ModelArtifactException when the parameters of `model.json` are wrong
    QuestionReader(ModelArtifact artifact) {
        int longest = artifact.longestRow();
        super(
                artifact,
                Parameters.NAMES,
                (defaults, fields) -> defaults.with(fields, longest),
                Parameters.defaults(longest));
    }

    /// `{"question": […], "context": …}` as a list of records: several questions about one context,
    /// or each about its own.
    @Override
    protected JsonNode listed(JsonNode json, String name) {
        if (name.equals("body") && !json.isContainerNode()) {
            throw new BadInputException("body: found %s, %s".formatted(Excerpt.of(json), FORMS));
        }
        var questions = json.path("question");
        if (!questions.isArray()) {
            return json;
        }
        var contexts = json.path("context");
        if (contexts.isArray() && contexts.size() != questions.size()) {
            throw new BadInputException("%s: found %d for %d questions, expected as many, or one text for all"
                    .formatted(
                            Question.field(name.equals("body") ? "" : name, "context"),
                            contexts.size(),
                            questions.size()));
        }
        var records = JsonNodeFactory.instance.arrayNode(questions.size());
        for (int i = 0; i < questions.size(); i++) {
            var record = records.addObject();
            record.set("question", questions.path(i));
            if (json.has("context")) {
                record.set("context", contexts.isArray() ? contexts.path(i) : contexts);
            }
        }
        return records;
    }
}
