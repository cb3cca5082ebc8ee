package dev.berth.qa;

import com.fasterxml.jackson.databind.JsonNode;

/// Says what was found where something else was expected, short enough for an error message.
final class Found {

  private static final int MAX_LENGTH = 60;

  private Found() {}

  static String in(JsonNode value) {
    return switch (value.getNodeType()) {
      case MISSING -> "nothing";
      case NULL -> "null";
      case OBJECT -> "an object";
      case ARRAY -> "a list";
      case STRING -> "the text " + quoted(value.textValue());
      case NUMBER, BOOLEAN, BINARY, POJO -> cut(value.asText());
    };
  }

  static String quoted(String text) {
    return '"' + cut(text) + '"';
  }

  /// Cut between code points, so that no half of a surrogate pair is left.
  private static String cut(String text) {
    if (text.length() <= MAX_LENGTH) {
      return text;
    }
    int end = Character.isHighSurrogate(text.charAt(MAX_LENGTH - 1)) ? MAX_LENGTH - 1 : MAX_LENGTH;
    return text.substring(0, end) + "…";
  }
}
