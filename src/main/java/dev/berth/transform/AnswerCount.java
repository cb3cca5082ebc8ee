package dev.berth.transform;

import com.fasterxml.jackson.core.JsonToken;
import dev.berth.content.JsonLines;
import dev.berth.hooks.MediaType;
import dev.berth.json.JsonText;
import java.io.IOException;
import java.util.Optional;
import java.util.OptionalInt;

/// How many records an answer is for, where its content type tells: lines, rows, the elements of a
/// JSON list, or JSON values one behind the other.
final class AnswerCount {

  private AnswerCount() {}

  /// @param type without parameters
  /// @return nothing where an answer of that type says nothing of records
  static OptionalInt of(byte[] answer, Optional<MediaType> type) {
    if (type.filter(JsonLines.TYPES::contains).isPresent()) {
      return OptionalInt.of(lines(answer, false));
    }
    if (type.filter(MediaType.CSV::equals).isPresent()) {
      return OptionalInt.of(lines(answer, true));
    }
    return type.filter(MediaType.JSON::equals).isPresent() ? elements(answer) : OptionalInt.empty();
  }

  /// @param quoted whether newlines may stand between quotes
  private static int lines(byte[] text, boolean quoted) {
    int lines = 0;
    boolean inQuotes = false;
    boolean inLine = false;
    for (byte b : text) {
      if (b == '\n' && !inQuotes) {
        lines++;
        inLine = false;
      } else {
        inLine = true;
        inQuotes ^= quoted && b == '"';
      }
    }
    return lines + (inLine ? 1 : 0);
  }

  private static OptionalInt elements(byte[] json) {
    try (var parser = JsonText.parser(json)) {
      boolean isList = parser.nextToken() == JsonToken.START_ARRAY;
      int elements = 0;
      while (isList && parser.nextToken() != JsonToken.END_ARRAY) {
        parser.skipChildren();
        elements++;
      }
      parser.skipChildren();
      int values = 1;
      while (parser.nextToken() != null) {
        parser.skipChildren();
        values++;
      }
      // Several values are one for each record, whatever they are.
      return values > 1 || isList
          ? OptionalInt.of(values > 1 ? values : elements)
          : OptionalInt.empty();
    } catch (IOException _) {
      // It is the caller's to find out.
      return OptionalInt.empty();
    }
  }
}
