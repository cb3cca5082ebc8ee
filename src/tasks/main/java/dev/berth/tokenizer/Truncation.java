package dev.berth.tokenizer;

import java.util.List;

/// How a text, or a pair of texts, is cut to what a model takes. Of a pair the longer text is cut
/// first, until both have the same length, as with `longest_first` of Hugging Face's tokenizers.
///
/// @param maxLength the most tokens of a row, special ones included
/// @param side which end of a text is cut off
public record Truncation(int maxLength, Side side) {

    /// Nothing is cut.
    public static final Truncation NONE = new Truncation(Integer.MAX_VALUE, Side.RIGHT);

    public enum Side {
        LEFT,
        RIGHT
    }

    public Truncation {
        if (maxLength < 1) {
            throw new IllegalArgumentException("maxLength: found %d, expected at least 1".formatted(maxLength));
        }
    }

    /// The same with rows of at most `length` tokens.
    public Truncation to(int length) {
        return new Truncation(Math.min(length, maxLength), side);
    }

    /// Cuts one or two texts to what a row has room for.
    ///
    /// @param special the tokens of the row that no text has
    List<Tokens> cut(List<Tokens> texts, int special) {
        int first = texts.getFirst().size();
        int second = texts.stream().skip(1).mapToInt(Tokens::size).sum();
        int room = Math.max(0, maxLength - special);
        if (first + second <= room) {
            return texts;
        }
        int shorter = Math.min(Math.min(first, second), room / 2);
        int kept = first > second ? room - shorter : shorter;
        var cut = cut(texts.getFirst(), kept);
        return texts.size() == 1 ? List.of(cut) : List.of(cut, cut(texts.getLast(), room - kept));
    }

    private Tokens cut(Tokens text, int length) {
        int from = side == Side.RIGHT ? 0 : text.size() - length;
        return length == text.size() ? text : text.part(from, from + length);
    }
}
