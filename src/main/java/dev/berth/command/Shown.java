package dev.berth.command;

import dev.berth.hooks.InvocationResponse;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;

/// A response as a terminal can show it.
final class Shown {

  private static final int LONGEST = 2000;

  private Shown() {}

  /// Its text, cut where it is long; type and size where it is none.
  static String of(InvocationResponse response) {
    try {
      var text =
          StandardCharsets.UTF_8.newDecoder().decode(ByteBuffer.wrap(response.body())).toString();
      if (text.chars().noneMatch(Shown::isControl)) {
        return text.length() <= LONGEST
            ? text
            : "%s… (%d bytes)".formatted(text.substring(0, LONGEST), response.body().length);
      }
    } catch (CharacterCodingException _) {
      // It is no text.
    }
    return "%s, %d bytes".formatted(response.contentType(), response.body().length);
  }

  private static boolean isControl(int character) {
    return Character.isISOControl(character) && !Character.isWhitespace(character);
  }
}
