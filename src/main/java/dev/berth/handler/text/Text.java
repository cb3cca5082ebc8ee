package dev.berth.handler.text;

import com.fasterxml.jackson.databind.JsonNode;
import dev.berth.content.Excerpt;
import dev.berth.hooks.BadInputException;
import java.util.Optional;

/// One input: a text, or a pair of texts.
///
/// @param isObject whether it was written as `{"text": …}`
public record Text(String text, Optional<String> pair, boolean isObject) {

  /// Reads `"…"` or `{"text": "…", "text_pair": "…"}`.
  ///
  /// @param name what messages call it
  /// @param takesPairs whether the task knows pairs
  static Text read(JsonNode json, String name, boolean takesPairs) {
    if (json.isTextual()) {
      return new Text(json.textValue(), Optional.empty(), false);
    }
    if (!json.isObject()) {
      throw new BadInputException(
          "%s: found %s, expected %s"
              .formatted(
                  name,
                  Excerpt.of(json),
                  takesPairs
                      ? "a text or {\"text\": …, \"text_pair\": …}"
                      : "a text or {\"text\": …}"));
    }
    var pair = json.path("text_pair");
    if (!takesPairs && json.has("text_pair")) {
      throw new BadInputException(
          "%s.text_pair: found %s, expected one text: this task takes no pairs"
              .formatted(name, Excerpt.of(pair)));
    }
    return new Text(
        text(json.path("text"), name + ".text"),
        pair.isMissingNode() || pair.isNull()
            ? Optional.empty()
            // As tokenizers do, of which an empty second text makes no pair.
            : Optional.of(text(pair, name + ".text_pair")).filter(second -> !second.isEmpty()),
        true);
  }

  private static String text(JsonNode json, String name) {
    if (!json.isTextual()) {
      throw new BadInputException(
          "%s: found %s, expected a text".formatted(name, Excerpt.of(json)));
    }
    return json.textValue();
  }
}
