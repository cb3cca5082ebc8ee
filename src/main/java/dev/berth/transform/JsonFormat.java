package dev.berth.transform;

import com.fasterxml.jackson.core.ErrorReportConfiguration;
import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonLocation;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.JsonToken;
import com.fasterxml.jackson.core.StreamReadConstraints;
import com.fasterxml.jackson.core.StreamWriteConstraints;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import com.fasterxml.jackson.databind.util.RawValue;
import dev.berth.content.Json;
import dev.berth.hooks.BadInputException;
import java.io.IOException;
import java.util.regex.Pattern;

/// JSON whose numbers keep the text that they had: `1.0`, `1e5` and digits without end come out as
/// they went in. Names keep their order; texts are written without escapes where JSON needs none.
final class JsonFormat implements RecordFormat {

  private static final String INPUT = "SageMakerInput";
  private static final String OUTPUT = "SageMakerOutput";

  private static final int MAX_FOUND_LENGTH = 60;

  private static final JsonNodeFactory NODES = JsonNodeFactory.instance;

  /// A payload's size is limited already; a join is one level deeper than its parts.
  private static final JsonFactory JSON =
      JsonFactory.builder()
          .streamReadConstraints(
              StreamReadConstraints.builder()
                  .maxStringLength(Integer.MAX_VALUE)
                  .maxNameLength(Integer.MAX_VALUE)
                  .maxNumberLength(Integer.MAX_VALUE)
                  .maxNestingDepth(StreamWriteConstraints.DEFAULT_MAX_DEPTH - 1)
                  .build())
          .errorReportConfiguration(
              ErrorReportConfiguration.builder().maxErrorTokenLength(MAX_FOUND_LENGTH).build())
          .build();

  /// Half of a character: JSON may hold one as `\ud800`, UTF-8 may not.
  private static final Pattern LONE_SURROGATE = Pattern.compile("\\p{Cs}");

  @Override
  public JsonNode read(String text) {
    if (text.isBlank()) {
      throw new BadInputException("found nothing, expected a JSON value");
    }
    try (var parser = JSON.createParser(text)) {
      parser.nextToken();
      var value = value(parser);
      if (parser.nextToken() != null) {
        throw new BadInputException(
            "found a second JSON value%s, expected one"
                .formatted(place(parser.currentTokenLocation())));
      }
      return value;
    } catch (JsonProcessingException e) {
      throw new BadInputException(
          "found what is not JSON%s, expected a JSON value: %s"
              .formatted(
                  e.getLocation() == null ? "" : place(e.getLocation()), e.getOriginalMessage()),
          e);
    } catch (IOException e) {
      throw new IllegalStateException("a text is in memory already", e);
    }
  }

  /// An object gets the answer as one more member, in the place of one that has its name already;
  /// any other value becomes a member beside it.
  @Override
  public JsonNode join(JsonNode input, JsonNode answer) {
    var joined = input instanceof ObjectNode object ? object : NODES.objectNode().set(INPUT, input);
    return ((ObjectNode) joined).set(OUTPUT, answer);
  }

  @Override
  public JsonNode error(String message) {
    return NODES.objectNode().put("error", message);
  }

  @Override
  public boolean isError(JsonNode answer) {
    return answer.size() == 1 && answer.path("error").isTextual();
  }

  @Override
  public String write(JsonNode record) {
    return LONE_SURROGATE
        .matcher(Json.write(record))
        .replaceAll(half -> "\\\\u%04x".formatted((int) half.group().charAt(0)));
  }

  private static String place(JsonLocation location) {
    return " at line %d, column %d".formatted(location.getLineNr(), location.getColumnNr());
  }

  /// The value that begins at the parser's token.
  private static JsonNode value(JsonParser parser) throws IOException {
    return switch (parser.currentToken()) {
      case START_OBJECT -> {
        var object = NODES.objectNode();
        while (parser.nextToken() != JsonToken.END_OBJECT) {
          var name = parser.currentName();
          parser.nextToken();
          object.set(name, value(parser));
        }
        yield object;
      }
      case START_ARRAY -> {
        var list = NODES.arrayNode();
        while (parser.nextToken() != JsonToken.END_ARRAY) {
          list.add(value(parser));
        }
        yield list;
      }
      case VALUE_NUMBER_INT, VALUE_NUMBER_FLOAT ->
          NODES.rawValueNode(new RawValue(parser.getText()));
      case VALUE_STRING -> NODES.textNode(parser.getText());
      case VALUE_TRUE, VALUE_FALSE -> NODES.booleanNode(parser.getBooleanValue());
      case VALUE_NULL -> NODES.nullNode();
      case END_OBJECT, END_ARRAY, FIELD_NAME, VALUE_EMBEDDED_OBJECT, NOT_AVAILABLE ->
          throw new IllegalStateException("no value begins with " + parser.currentToken());
    };
  }
}
