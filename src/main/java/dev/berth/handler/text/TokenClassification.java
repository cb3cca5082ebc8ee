package dev.berth.handler.text;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.berth.handler.task.HubFiles;
import dev.berth.handler.task.HubTask;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;

/// The task of [TokenClassificationHandler].
public final class TokenClassification implements HubTask {

  @Override
  public String name() {
    return "token-classification";
  }

  @Override
  public TokenClassificationHandler open(Path directory) {
    return new TokenClassificationHandler(directory);
  }

  @Override
  public String architecture() {
    return "ForTokenClassification";
  }

  @Override
  public void describe(HubFiles model, ObjectNode json) {
    model.outputs(json, "logits", "logits");
    model.rows(json);
    model.labels(json);
  }

  @Override
  public List<ObjectNode> requests(List<Passage> passages, HubFiles model, ObjectNode json) {
    return passages.stream().map(passage -> HubTask.request(passage.context(), Map.of())).toList();
  }

  @Override
  public boolean isSame(JsonNode one, JsonNode other, JsonNode json, double near) {
    return entities(one).equals(entities(other));
  }

  private static List<String> entities(JsonNode answer) {
    return answer
        .valueStream()
        .map(entity -> entity.path("entity") + "@" + entity.path("index"))
        .toList();
  }
}
