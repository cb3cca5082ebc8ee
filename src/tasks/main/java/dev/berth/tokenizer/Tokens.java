package dev.berth.tokenizer;

import java.util.Arrays;
import java.util.List;

/// The tokens of one text, as parallel arrays that are shared and not to be changed.
///
/// @param ids their ids in the vocabulary
/// @param starts where each begins in the text, by the indexes of its Java string
/// @param ends where each ends, exclusive
/// @param words the number of the pre-tokenizer's word that each belongs to; negative where it
///   belongs to none
public record Tokens(long[] ids, int[] starts, int[] ends, long[] words) {

    public int size() {
        return ids.length;
    }

    static Tokens ofSize(int size) {
        return new Tokens(new long[size], new int[size], new int[size], new long[size]);
    }

    /// A token that stands in no text.
    static Tokens special(long id) {
        return new Tokens(new long[] {id}, new int[1], new int[1], new long[] {-1});
    }

    /// The tokens from one to another, exclusive.
    public Tokens part(int from, int to) {
        return new Tokens(
                Arrays.copyOfRange(ids, from, to),
                Arrays.copyOfRange(starts, from, to),
                Arrays.copyOfRange(ends, from, to),
                Arrays.copyOfRange(words, from, to));
    }

    void copyTo(Tokens row, int at) {
        System.arraycopy(ids, 0, row.ids, at, size());
        System.arraycopy(starts, 0, row.starts, at, size());
        System.arraycopy(ends, 0, row.ends, at, size());
        System.arraycopy(words, 0, row.words, at, size());
    }

    /// The same tokens, whose places are in code points, by the indexes of the Java string.
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

    /// The tokens of a text by those of its pieces.
    ///
    /// @param lengths of the pieces
    static Tokens join(List<Tokens> pieces, List<Integer> lengths) {
        int size = pieces.stream().mapToInt(Tokens::size).sum();
        var whole = ofSize(size);
        int at = 0;
        int place = 0;
        long word = 0;
        for (int p = 0; p < pieces.size(); p++) {
            var piece = pieces.get(p);
            long firstWord = word;
            for (int i = 0; i < piece.size(); i++, at++) {
                whole.ids[at] = piece.ids[i];
                whole.starts[at] = place + piece.starts[i];
                whole.ends[at] = place + piece.ends[i];
                whole.words[at] = piece.words[i] < 0 ? piece.words[i] : firstWord + piece.words[i];
                word = Math.max(word, whole.words[at] + 1);
            }
            place += lengths.get(p);
        }
        return whole;
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
