package dev.berth.handler.task;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.MissingNode;
import dev.berth.content.Excerpt;
import dev.berth.hooks.BadInputException;
import java.util.List;
import java.util.Locale;
import java.util.Optional;

/// The `parameters` of a request, or those of `model.json`, field by field. What is left out or
/// null stays as it was.
public final class Fields {

  private final JsonNode json;
  private final String name;

  private Fields(JsonNode json, String name) {
    this.json = json;
    this.name = name;
  }

  /// @param name what messages call the object
  /// @param known the fields that the task knows
  /// @throws BadInputException when it is no object, or has other fields
  static Fields of(JsonNode json, String name, List<String> known) {
    if (json.isMissingNode() || json.isNull()) {
      return new Fields(MissingNode.getInstance(), name);
    }
    if (!json.isObject()) {
      throw new BadInputException(
          "%s: found %s, expected an object".formatted(name, Excerpt.of(json)));
    }
    json.fieldNames()
        .forEachRemaining(
            field -> {
              if (!known.contains(field)) {
                throw new BadInputException(
                    "%s: found the unknown parameter %s, expected one of %s"
                        .formatted(name, Excerpt.quoted(field), String.join(", ", known)));
              }
            });
    return new Fields(json, name);
  }

  /// Whether the field is there, be it null.
  public boolean has(String field) {
    return json.has(field);
  }

  public int integer(String field, int least, int most, int otherwise) {
    var value = json.path(field);
    if (value.isMissingNode() || value.isNull()) {
      return otherwise;
    }
    if (!value.isIntegralNumber()
        || !value.canConvertToInt()
        || value.intValue() < least
        || value.intValue() > most) {
      var range =
          most == Integer.MAX_VALUE
              ? "of at least " + least
              : "from %d to %d".formatted(least, most);
      throw new BadInputException(
          "%s.%s: found %s, expected a whole number %s"
              .formatted(name, field, Excerpt.of(value), range));
    }
    return value.intValue();
  }

  public boolean bool(String field, boolean otherwise) {
    var value = json.path(field);
    if (value.isMissingNode() || value.isNull()) {
      return otherwise;
    }
    if (!value.isBoolean()) {
      throw new BadInputException(
          "%s.%s: found %s, expected true or false".formatted(name, field, Excerpt.of(value)));
    }
    return value.booleanValue();
  }

  /// A constant by its name in lower case.
  public <E extends Enum<E>> E choice(String field, List<E> choices, E otherwise) {
    var value = json.path(field);
    if (value.isMissingNode() || value.isNull()) {
      return otherwise;
    }
    return choices.stream()
        .filter(choice -> name(choice).equals(value.asText().toLowerCase(Locale.ROOT)))
        .findFirst()
        .orElseThrow(
            () ->
                new BadInputException(
                    "%s.%s: found %s, expected one of %s"
                        .formatted(
                            name,
                            field,
                            Excerpt.of(value),
                            String.join(", ", choices.stream().map(Fields::name).toList()))));
  }

  private static String name(Enum<?> choice) {
    return choice.name().toLowerCase(Locale.ROOT);
  }

  /// A text, or a list of texts.
  public Optional<List<String>> texts(String field) {
    var value = json.path(field);
    if (value.isMissingNode() || value.isNull()) {
      return Optional.empty();
    }
    var values = value.isArray() ? value.valueStream().toList() : List.of(value);
    if (!values.stream().allMatch(JsonNode::isTextual)) {
      throw new BadInputException(
          "%s.%s: found %s, expected a text or a list of texts"
              .formatted(name, field, Excerpt.of(value)));
    }
    return Optional.of(values.stream().map(JsonNode::textValue).toList());
  }
}
