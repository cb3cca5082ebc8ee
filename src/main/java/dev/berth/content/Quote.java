package dev.berth.content;

/// Quotes what was found in a payload, short enough for an error message.
final class Quote {

  private static final int MAX_LENGTH = 60;

  private Quote() {}

  /// Cut between code points, so that no half of a surrogate pair is left.
  static String cut(String text) {
    if (text.length() <= MAX_LENGTH) {
      return '"' + text + '"';
    }
    int end = Character.isHighSurrogate(text.charAt(MAX_LENGTH - 1)) ? MAX_LENGTH - 1 : MAX_LENGTH;
    return '"' + text.substring(0, end) + "…\"";
  }
}
