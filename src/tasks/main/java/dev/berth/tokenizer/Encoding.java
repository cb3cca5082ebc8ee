package dev.berth.tokenizer;

import java.util.Arrays;

/// One row of a model: the tokens of a text or of a pair of texts, with the special ones, as
/// parallel arrays that are shared and not to be changed.
///
/// @param ids of the tokens in the vocabulary
/// @param typeIds which part of the row each belongs to, such as 0 for the first text of a BERT and
///   1 for the second
/// @param attentionMask 1, or 0 for padding
/// @param specialTokensMask 1 for special tokens and padding, 0 for those of a text
/// @param starts where each begins in its text, as an index of the Java string; 0 for special
///   tokens
/// @param ends where each ends, exclusive
/// @param words the number of the word in its text that each belongs to; -1 for special tokens
/// @param sequences the text that each belongs to, 0 or 1; -1 for special tokens
public record Encoding(
        long[] ids,
        long[] typeIds,
        long[] attentionMask,
        long[] specialTokensMask,
        int[] starts,
        int[] ends,
        int[] words,
        int[] sequences) {

    /// What a token takes, in bytes.
    static final int TOKEN = 48;

    public int size() {
        return ids.length;
    }

    /// A row of special tokens, all of them padding where `attention` is 0.
    static Encoding ofSize(int size, long id, long typeId, long attention) {
        var encoding = new Encoding(
                new long[size],
                new long[size],
                new long[size],
                new long[size],
                new int[size],
                new int[size],
                new int[size],
                new int[size]);
        Arrays.fill(encoding.ids, id);
        Arrays.fill(encoding.typeIds, typeId);
        Arrays.fill(encoding.attentionMask, attention);
        Arrays.fill(encoding.specialTokensMask, 1);
        Arrays.fill(encoding.words, -1);
        Arrays.fill(encoding.sequences, -1);
        return encoding;
    }

    /// Puts these tokens into a longer row.
    void copyTo(Encoding row, int at) {
        System.arraycopy(ids, 0, row.ids, at, size());
        System.arraycopy(typeIds, 0, row.typeIds, at, size());
        System.arraycopy(attentionMask, 0, row.attentionMask, at, size());
        System.arraycopy(specialTokensMask, 0, row.specialTokensMask, at, size());
        System.arraycopy(starts, 0, row.starts, at, size());
        System.arraycopy(ends, 0, row.ends, at, size());
        System.arraycopy(words, 0, row.words, at, size());
        System.arraycopy(sequences, 0, row.sequences, at, size());
    }
}
