package dev.berth.hub;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.ArrayList;
import java.util.List;

/// What sentence-transformers does with the vectors of tokens, as `modules.json` says it.
final class SentenceModules {

  private SentenceModules() {}

  /// As sentence-transformers does: without its files the mean of the tokens.
  static List<String> pooling(HubDirectory directory) {
    var steps = new ArrayList<String>();
    boolean normalises = false;
    for (var module : directory.json("modules.json")) {
      var type = module.path("type").asText().replaceFirst(".*\\.", "");
      switch (type) {
        case "Transformer" -> {}
        case "Pooling" ->
            steps.addAll(modes(directory.json(module.path("path").asText() + "/config.json")));
        case "Normalize" -> normalises = true;
        default ->
            throw directory.refused(
                "modules.json: found %s, expected Transformer, Pooling or Normalize; export the model with its output sentence_embedding, or use trace.py"
                    .formatted(type));
      }
    }
    if (steps.isEmpty()) {
      steps.add("mean");
    }
    if (normalises) {
      steps.add("normalize");
    }
    return steps;
  }

  private static List<String> modes(JsonNode config) {
    var named = config.path("pooling_mode");
    if (named.isArray()) {
      return named.valueStream().map(JsonNode::asText).toList();
    }
    if (named.isTextual()) {
      return List.of(named.asText());
    }
    return config.properties().stream()
        .filter(field -> field.getKey().startsWith("pooling_mode_") && field.getValue().asBoolean())
        .map(field -> field.getKey().replaceFirst("pooling_mode_", ""))
        .map(
            mode -> mode.equals("mean_sqrt_len_tokens") ? mode : mode.replaceFirst("_tokens?$", ""))
        .toList();
  }
}
