package dev.berth.tokenizer.mecab;

import dev.berth.tokenizer.WordCutter.Word;
import java.text.Normalizer;
import java.util.Arrays;
import java.util.Locale;
import java.util.regex.Pattern;
import java.util.stream.IntStream;

/// A text as MeCab is given it, and where each of its characters stands in the original: `㍿`
/// becomes four that all stand where it did.
///
/// @param codePoints the normalised text
/// @param starts where the original of each begins, in code points
/// @param ends where it ends, exclusive
record NormalisedText(int[] codePoints, int[] starts, int[] ends) {

    /// A character, and those behind it that may become one with it or change places with it: marks, the
    /// sound marks of half width, and letters of Hangul.
    private static final Pattern PART = Pattern.compile(
            "(?s).[\\p{M}\\x{ff9e}\\x{ff9f}\\x{1160}-\\x{11ff}\\x{3131}-\\x{318e}\\x{ffa0}-\\x{ffdc}]*");

    /// @param offset what is added to all places
    /// @param compose whether Unicode's NFKC is made of the text
    static NormalisedText of(String text, int offset, boolean compose) {
        var codePoints = IntStream.builder();
        var starts = IntStream.builder();
        var ends = IntStream.builder();
        int place = offset;
        var parts = PART.matcher(text);
        while (parts.find()) {
            int start = place;
            place += parts.group().codePointCount(0, parts.group().length());
            int end = place;
            normalised(parts.group(), compose).codePoints().forEach(codePoint -> {
                codePoints.add(codePoint);
                starts.add(start);
                ends.add(end);
            });
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
}
