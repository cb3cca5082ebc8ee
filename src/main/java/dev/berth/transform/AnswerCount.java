package dev.berth.transform;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonToken;
import dev.berth.content.JsonLines;
import dev.berth.hooks.MediaType;
import java.io.IOException;
import java.util.Optional;
import java.util.OptionalInt;

/// How many records an answer is for, where its content type tells: lines, rows, or the elements of
/// a JSON list.
final class AnswerCount {

  private static final JsonFactory JSON = new JsonFactory();

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
    try (var parser = JSON.createParser(json)) {
      if (parser.nextToken() != JsonToken.START_ARRAY) {
        return OptionalInt.empty();
      }
      int elements = 0;
      while (parser.nextToken() != JsonToken.END_ARRAY) {
        parser.skipChildren();
        elements++;
      }
      return OptionalInt.of(elements);
    } catch (IOException _) {
      // It is the caller's to find out.
      return OptionalInt.empty();
    }
  }
}
