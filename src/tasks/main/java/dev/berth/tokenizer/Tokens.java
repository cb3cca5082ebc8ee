package dev.berth.tokenizer;

import java.util.Arrays;
import java.util.List;

/// The tokens of one text, as parallel arrays that are shared and not to be changed.
///
/// @param ids their ids in the vocabulary
/// @param starts where each begins in the text, in Unicode code points
/// @param ends where each ends, exclusive
/// @param words the number of the pre-tokenizer's word that each belongs to; negative where it
///   belongs to none
public record Tokens(long[] ids, int[] starts, int[] ends, long[] words) {

    public int size() {
        return ids.length;
    }

    /// The same tokens in a longer text, where they stand `codePoints` and `words` later.
    Tokens shifted(int codePoints, long words) {
        return new Tokens(
                ids,
                Arrays.stream(starts).map(start -> start + codePoints).toArray(),
                Arrays.stream(ends).map(end -> end + codePoints).toArray(),
                Arrays.stream(this.words)
                        .map(word -> word < 0 ? word : word + words)
                        .toArray());
    }

    /// The same tokens by the indexes of the Java string, in which a character may take two.
    Tokens byIndexesOf(String text) {
        int codePoints = text.codePointCount(0, text.length());
        if (codePoints == text.length()) {
            return this;
        }
        var places = new int[codePoints + 1];
        for (int i = 0; i < codePoints; i++) {
            places[i + 1] = places[i] + Character.charCount(text.codePointAt(places[i]));
        }
        return new Tokens(
                ids,
                Arrays.stream(starts).map(start -> places[start]).toArray(),
                Arrays.stream(ends).map(end -> places[end]).toArray(),
                words);
    }

    /// A number that no word has yet.
    long nextWord() {
        return Arrays.stream(words).max().orElse(-1) + 1;
    }

    static Tokens join(List<Tokens> parts) {
        return new Tokens(
                parts.stream().flatMapToLong(part -> Arrays.stream(part.ids)).toArray(),
                parts.stream().flatMapToInt(part -> Arrays.stream(part.starts)).toArray(),
                parts.stream().flatMapToInt(part -> Arrays.stream(part.ends)).toArray(),
                parts.stream().flatMapToLong(part -> Arrays.stream(part.words)).toArray());
    }

    /// Where the word begins that holds `token`, as far as its tokens are `from` or later.
    public int wordStart(int token, int from) {
        int first = token;
        while (first > from && words[token] >= 0 && words[first - 1] == words[token]) {
            first--;
        }
        return starts[first];
    }

    /// Where the word ends that holds `token`, exclusive, as far as its tokens are before `stop`.
    public int wordEnd(int token, int stop) {
        int last = token;
        while (last + 1 < stop && words[token] >= 0 && words[last + 1] == words[token]) {
            last++;
        }
        return ends[last];
    }
}
