package dev.berth.tokenizer;

import java.text.Normalizer;
import java.util.Arrays;

/// A text as MeCab is given it, and where each of its characters stands in the original: `㍿`
/// becomes four that all stand where it did.
///
/// @param codePoints the normalised text
/// @param starts where the original of each begins, in code points
/// @param ends where it ends, exclusive
record NormalisedText(int[] codePoints, int[] starts, int[] ends) {

  /// @param offset what is added to all places
  /// @param compose whether Unicode's NFKC is made of the text
  static NormalisedText of(String text, int offset, boolean compose) {
    var builder = new Builder(text.length());
    int place = offset;
    for (int from = 0; from < text.length(); ) {
      int to = from + Character.charCount(text.codePointAt(from));
      int next = place + 1;
      while (to < text.length() && combines(text.codePointAt(to))) {
        to += Character.charCount(text.codePointAt(to));
        next++;
      }
      builder.add(normalised(text.substring(from, to), compose), place, next);
      from = to;
      place = next;
    }
    return builder.build();
  }

  private static String normalised(String part, boolean compose) {
    boolean simple = part.length() == 1 && part.charAt(0) < 0x80;
    return compose && !simple ? Normalizer.normalize(part, Normalizer.Form.NFKC) : part;
  }

  /// Whether a character may become one with those before it, or change places with them: marks,
  /// the sound marks of half width, and letters of Hangul.
  private static boolean combines(int codePoint) {
    return switch (Character.getType(codePoint)) {
      case Character.NON_SPACING_MARK, Character.COMBINING_SPACING_MARK, Character.ENCLOSING_MARK ->
          true;
      default ->
          codePoint == 0xff9e
              || codePoint == 0xff9f
              || (codePoint >= 0x1160 && codePoint <= 0x11ff)
              || (codePoint >= 0x3131 && codePoint <= 0x318e)
              || (codePoint >= 0xffa0 && codePoint <= 0xffdc);
    };
  }

  private static final class Builder {

    private int[] codePoints;
    private int[] starts;
    private int[] ends;
    private int size;

    Builder(int capacity) {
      this.codePoints = new int[capacity];
      this.starts = new int[capacity];
      this.ends = new int[capacity];
    }

    void add(String part, int start, int end) {
      for (int i = 0; i < part.length(); i += Character.charCount(part.codePointAt(i))) {
        if (size == codePoints.length) {
          codePoints = Arrays.copyOf(codePoints, 2 * size);
          starts = Arrays.copyOf(starts, 2 * size);
          ends = Arrays.copyOf(ends, 2 * size);
        }
        codePoints[size] = part.codePointAt(i);
        starts[size] = start;
        ends[size] = end;
        size++;
      }
    }

    NormalisedText build() {
      return new NormalisedText(
          Arrays.copyOf(codePoints, size), Arrays.copyOf(starts, size), Arrays.copyOf(ends, size));
    }
  }
}
