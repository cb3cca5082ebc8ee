package dev.berth.content;

import com.fasterxml.jackson.databind.JsonNode;
import dev.berth.hooks.BadInputException;
import dev.berth.memory.RequestMemory;
import java.util.Base64;

/// Bytes in JSON as TensorFlow Serving writes them: `{"b64": "iVBORw0…"}`, or in a field of any name,
/// `{"image_bytes": {"b64": "iVBORw0…"}}`.
public final class Base64Bytes {

  private static final String FIELD = "b64";

  private Base64Bytes() {}

  /// @param name what messages call the value
  /// @throws BadInputException when it has another form or is not base64
  public static byte[] read(JsonNode value, String name) {
    var object = value.isObject() && value.size() == 1 && !value.has(FIELD) ? value.elements().next() : value;
    var text = object.path(FIELD);
    if (!object.isObject() || object.size() != 1 || !text.isTextual()) {
      throw new BadInputException("%s: found %s, expected {\"b64\": \"…\"}".formatted(name, Excerpt.of(value)));
    }
    RequestMemory.charge(text.textValue().length());
    try {
      return Base64.getDecoder().decode(text.textValue());
    } catch (IllegalArgumentException e) {
      throw new BadInputException("%s.b64: not base64: %s".formatted(name, e.getMessage()), e);
    }
  }
}
