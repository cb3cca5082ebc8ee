package dev.berth.tokenizer;

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

    public long[] ids() {
        return tokens.ids();
    }

    public int[] starts() {
        return tokens.starts();
    }

    public int[] ends() {
        return tokens.ends();
    }

    public long[] words() {
        return tokens.words();
    }
}
