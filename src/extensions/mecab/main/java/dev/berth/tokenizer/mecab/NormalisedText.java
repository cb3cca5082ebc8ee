package dev.berth.tokenizer.mecab;

import dev.berth.tokenizer.WordCutter.Word;
import java.text.Normalizer;
import java.util.Arrays;
import java.util.Locale;
import java.util.stream.IntStream;

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
        var codePoints = IntStream.builder();
        var starts = IntStream.builder();
        var ends = IntStream.builder();
        int place = offset;
        for (int from = 0; from < text.length(); ) {
            int to = from + Character.charCount(text.codePointAt(from));
            int start = place++;
            while (to < text.length() && combines(text.codePointAt(to))) {
                to += Character.charCount(text.codePointAt(to));
                place++;
            }
            int end = place;
            normalised(text.substring(from, to), compose).codePoints().forEach(codePoint -> {
                codePoints.add(codePoint);
                starts.add(start);
                ends.add(end);
            });
            from = to;
        }
        return new NormalisedText(
                codePoints.build().toArray(),
                starts.build().toArray(),
                ends.build().toArray());
    }

    Word word(int from, int to, boolean inLowerCase) {
        var word = new String(codePoints, from, to - from);
        return new Word(
                inLowerCase ? word.toLowerCase(Locale.ROOT) : word,
                Arrays.copyOfRange(starts, from, to),
                Arrays.copyOfRange(ends, from, to));
    }

    private static String normalised(String part, boolean compose) {
        boolean simple = part.length() == 1 && part.charAt(0) < 0x80;
        return compose && !simple ? Normalizer.normalize(part, Normalizer.Form.NFKC) : part;
    }

    /// Whether a character may become one with those before it, or change places with them: marks,
    /// the sound marks of half width, and letters of Hangul.
    private static boolean combines(int codePoint) {
        return switch (Character.getType(codePoint)) {
            case Character.NON_SPACING_MARK, Character.COMBINING_SPACING_MARK, Character.ENCLOSING_MARK -> true;
            default ->
                codePoint == 0xff9e
                        || codePoint == 0xff9f
                        || (codePoint >= 0x1160 && codePoint <= 0x11ff)
                        || (codePoint >= 0x3131 && codePoint <= 0x318e)
                        || (codePoint >= 0xffa0 && codePoint <= 0xffdc);
        };
    }
}
