package dev.berth.handler.text;

import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.berth.handler.task.Classification;
import dev.berth.handler.task.HubFiles;
import java.util.List;
import java.util.Map;

/// The task of [TextClassificationHandler].
public final class TextClassification extends Classification {

    public TextClassification() {
        super("text-classification", "ForSequenceClassification", TextClassificationHandler::new);
    }

    @Override
    public void describe(HubFiles model, ObjectNode json) {
        model.outputs(json, "logits", "logits");
        model.rows(json);
        labels(model, json, true);
    }

    /// A model of one class ranks pairs.
    @Override
    public List<ObjectNode> requests(List<Passage> passages, HubFiles model, ObjectNode json) {
        return passages.stream()
                .map(passage -> hasOneClass(json)
                        ? request(
                                JsonNodeFactory.instance
                                        .objectNode()
                                        .put("text", passage.question())
                                        .put("text_pair", passage.context()),
                                Map.of("top_k", 1, "function_to_apply", "none", "truncation", true))
                        : request(passage.context(), Map.of("top_k", ALL_LABELS, "truncation", true)))
                .toList();
    }
}
