package dev.berth.http;

/// A caller's text inside a message: short, and quoted.
final class Text {

  private static final int MAX_LENGTH = 100;

  private Text() {}

  static String quoted(String text) {
    return '"' + cut(text, MAX_LENGTH) + '"';
  }

  /// At most `length` characters, and never half a surrogate pair.
  static String cut(String text, int length) {
    if (text.length() <= length) {
      return text;
    }
    int end = Character.isHighSurrogate(text.charAt(length - 1)) ? length - 1 : length;
    return text.substring(0, end) + "…";
  }
}
