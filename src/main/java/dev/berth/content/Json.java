package dev.berth.content;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.StreamReadConstraints;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.databind.ser.DefaultSerializerProvider;
import com.fasterxml.jackson.databind.type.TypeFactory;
import dev.berth.hooks.BadInputException;
import dev.berth.hooks.InvocationRequest;
import java.io.IOException;

/// JSON (RFC 8259) in and out.
public final class Json {

  /// The server limits the payload's size; a text in it may be as long as that.
  static final StreamReadConstraints ANY_LENGTH =
      StreamReadConstraints.builder().maxStringLength(Integer.MAX_VALUE).build();

  private static final JsonMapper JSON =
      JsonMapper.builder(JsonFactory.builder().streamReadConstraints(ANY_LENGTH).build()).build();

  private Json() {}

  /// Reads the one value that a body holds.
  ///
  /// @throws BadInputException with the line and column where the body stops to be JSON
  public static JsonNode read(InvocationRequest request) throws IOException {
    return parse(request.text(), "body");
  }

  /// Reads the one value that a text holds.
  ///
  /// @param name what messages call the text, such as `line 3`
  /// @throws BadInputException with the place where the text stops to be JSON
  public static JsonNode parse(String text, String name) {
    try (var parser = JSON.createParser(text)) {
      if (parser.nextToken() == null) {
        throw new BadInputException("%s: found nothing, expected JSON".formatted(name));
      }
      JsonNode value = JSON.readTree(parser);
      if (parser.nextToken() != null) {
        throw new BadInputException(
            "%s: found a second JSON value at line %d, column %d; for JSON Lines the content type is application/jsonlines"
                .formatted(
                    name, parser.currentTokenLocation().getLineNr(), parser.currentTokenLocation().getColumnNr()));
      }
      return value;
    } catch (JsonProcessingException e) {
      throw new BadInputException("%s: not JSON%s: %s".formatted(name, place(text, e), e.getOriginalMessage()), e);
    } catch (IOException e) {
      throw new IllegalStateException("a text is in memory already", e);
    }
  }

  /// Writes a value of plain Java: records, maps, lists, texts, numbers, [JsonNode]. Without line breaks, so that it may
  /// be a line of JSON Lines.
  public static String write(Object value) {
    try {
      return JSON.writeValueAsString(value);
    } catch (JsonProcessingException e) {
      throw new IllegalArgumentException("found a value that has no JSON: " + e.getOriginalMessage(), e);
    }
  }

  /// Lets the classes go that values had, so that those of a model can be unloaded with it.
  public static void forgetClasses() {
    // Of all mappers: they share this one.
    TypeFactory.defaultInstance().clearCache();
    ((DefaultSerializerProvider) JSON.getSerializerProvider()).flushCachedSerializers();
  }

  /// Where the text stops to be JSON; one line needs no line number, and a text that is too deep or too long has no
  /// place.
  private static String place(String text, JsonProcessingException e) {
    var location = e.getLocation();
    if (location == null) {
      return "";
    }
    return text.indexOf('\n') < 0
        ? " at column " + location.getColumnNr()
        : " at line %d, column %d".formatted(location.getLineNr(), location.getColumnNr());
  }
}
