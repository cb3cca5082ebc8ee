package dev.berth.storage;

import java.util.Comparator;

/// The order that S3 lists keys in: that of their UTF-8 bytes, which is that of their code points. `String`'s own order
/// differs where a character needs two chars.
final class KeyOrder implements Comparator<String> {

  @Override
  public int compare(String a, String b) {
    int length = Math.min(a.length(), b.length());
    for (int i = 0; i < length; i++) {
      if (a.charAt(i) != b.charAt(i)) {
        return Integer.compare(rank(a.charAt(i)), rank(b.charAt(i)));
      }
    }
    return Integer.compare(a.length(), b.length());
  }

  /// Surrogates stand for the code points behind all others.
  private static int rank(char c) {
    return Character.isSurrogate(c) ? c + Character.MAX_VALUE : c;
  }
}
