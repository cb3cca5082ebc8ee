package dev.berth.handler.text;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.berth.handler.task.HubFiles;
import dev.berth.handler.task.HubTask;
import java.util.List;

/// The task of [TokenClassificationHandler].
public final class TokenClassification extends HubTask {

    public TokenClassification() {
        super("token-classification", "ForTokenClassification", TokenClassificationHandler::new);
    }

    @Override
    public void describe(HubFiles model, ObjectNode json) {
        model.outputs(json, "logits", "logits");
        model.rows(json);
        model.labels(json);
    }

    @Override
    public boolean isSame(JsonNode one, JsonNode other, JsonNode json, double near) {
        return entities(one).equals(entities(other));
    }

    private static List<String> entities(JsonNode answer) {
        return answer.valueStream()
                .map(entity -> entity.path("entity") + "@" + entity.path("index"))
                .toList();
    }
}
