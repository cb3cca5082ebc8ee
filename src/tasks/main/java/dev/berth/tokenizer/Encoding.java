package dev.berth.tokenizer;

import java.util.Arrays;

/// One row of a model: the tokens of a text or of a pair of texts, with the special ones, as
/// parallel arrays that are shared and not to be changed.
///
/// @param tokens by the indexes of their Java string; a special one begins and ends at 0 and belongs
///   to no word
/// @param typeIds which part of the row each belongs to, such as 0 for the first text of a BERT and
///   1 for the second
/// @param sequences the text that each belongs to, 0 or 1; -1 for special tokens
public record Encoding(Tokens tokens, long[] typeIds, int[] sequences) {

    /// What a token takes, in bytes.
    static final int TOKEN = 36;

    public int size() {
        return tokens.size();
    }

    /// Of the tokens in the vocabulary.
    public long[] ids() {
        return tokens.ids();
    }

    /// Where each begins in its text, as an index of the Java string; 0 for special tokens.
    public int[] starts() {
        return tokens.starts();
    }

    /// Where each ends, exclusive.
    public int[] ends() {
        return tokens.ends();
    }

    /// The number of the word in its text that each belongs to; -1 for special tokens.
    public long[] words() {
        return tokens.words();
    }

    /// 1 for special tokens, 0 for those of a text.
    public long[] specialTokensMask() {
        return Arrays.stream(sequences)
                .mapToLong(sequence -> sequence < 0 ? 1 : 0)
                .toArray();
    }
}
