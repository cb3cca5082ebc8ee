package dev.berth.torch;

/// The tokens of one text, as parallel arrays that are shared and not to be changed.
///
/// @param ids their ids in the vocabulary
/// @param starts where each begins in the text, in Unicode code points
/// @param ends where each ends, exclusive
/// @param words the number of the pre-tokenizer's word that each belongs to; negative where it belongs to none
public record Tokens(long[] ids, int[] starts, int[] ends, long[] words) {

  public int size() {
    return ids.length;
  }

  /// Where the whole word begins that holds `token`.
  public int wordStart(int token) {
    int first = token;
    while (first > 0 && words[token] >= 0 && words[first - 1] == words[token]) {
      first--;
    }
    return starts[first];
  }

  /// Where the whole word ends that holds `token`, exclusive.
  public int wordEnd(int token) {
    int last = token;
    while (last + 1 < words.length && words[token] >= 0 && words[last + 1] == words[token]) {
      last++;
    }
    return ends[last];
  }
}
