package dev.berth.handler.qa;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.berth.handler.task.HubFiles;
import dev.berth.handler.task.HubTask;
import java.util.List;

/// The task of [QuestionAnsweringHandler].
public final class QuestionAnswering extends HubTask {

    public QuestionAnswering() {
        super("question-answering", "ForQuestionAnswering", QuestionAnsweringHandler::new);
    }

    /// Answers are widened to whole words, unless the tokenizer knows none.
    @Override
    public void describe(HubFiles model, ObjectNode json) {
        model.outputs(json, "start_logits and end_logits", "start", "end");
        model.rows(json);
        if (model.isUnspaced()) {
            json.putObject("parameters").put("align_to_words", false);
        }
    }

    @Override
    public List<ObjectNode> requests(List<Passage> passages, HubFiles model, ObjectNode json) {
        return passages.stream()
                .map(passage -> JsonNodeFactory.instance
                        .objectNode()
                        .put("question", passage.question())
                        .put("context", passage.context()))
                .toList();
    }

    @Override
    public boolean isSame(JsonNode one, JsonNode other, JsonNode json, double near) {
        return one.path("start").equals(other.path("start")) && one.path("end").equals(other.path("end"));
    }
}
