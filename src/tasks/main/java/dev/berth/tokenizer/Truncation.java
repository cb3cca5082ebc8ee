package dev.berth.tokenizer;

import dev.berth.hooks.BadInputException;
import java.util.List;

/// How a text, or a pair of texts, is cut to what a model takes. The strategies are those of
/// Hugging Face's tokenizers.
///
/// @param maxLength the most tokens of a row, special ones included
/// @param strategy which text of a pair is cut
/// @param side which end of a text is cut off
public record Truncation(int maxLength, Strategy strategy, Side side) {

    /// Nothing is cut.
    public static final Truncation NONE = new Truncation(Integer.MAX_VALUE, Strategy.LONGEST_FIRST, Side.RIGHT);

    /// Which text of a pair is cut. The first two cut a single text alike.
    public enum Strategy {
        /// The longer one first, until both have the same length.
        LONGEST_FIRST,
        ONLY_FIRST,
        ONLY_SECOND
    }

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
        return new Truncation(Math.min(length, maxLength), strategy, side);
    }

    /// Cuts one or two texts to what a row has room for.
    ///
    /// @param special the tokens of the row that no text has
    /// @throws BadInputException when the text that may be cut is too short
    List<Tokens> cut(List<Tokens> texts, int special) {
        int first = texts.getFirst().size();
        int second = texts.stream().skip(1).mapToInt(Tokens::size).sum();
        int room = Math.max(0, maxLength - special);
        int tooMany = first + second - room;
        if (tooMany <= 0) {
            return texts;
        }
        int kept = room == 0
                ? 0
                : switch (strategy) {
                    case LONGEST_FIRST -> longestFirst(first, second, room);
                    case ONLY_FIRST -> shortened(first, tooMany, "first");
                    case ONLY_SECOND -> room - shortened(second, tooMany, "second");
                };
        var cut = cut(texts.getFirst(), kept);
        return texts.size() == 1 ? List.of(cut) : List.of(cut, cut(texts.getLast(), room - kept));
    }

    private Tokens cut(Tokens text, int length) {
        int from = side == Side.RIGHT ? 0 : text.size() - length;
        return length == text.size() ? text : text.part(from, from + length);
    }

    /// What is kept of the first text.
    private static int longestFirst(int first, int second, int room) {
        int shorter = Math.min(Math.min(first, second), room / 2);
        return first > second ? room - shorter : shorter;
    }

    private int shortened(int tokens, int tooMany, String which) {
        if (tokens <= tooMany) {
            throw new BadInputException(
                    "the two texts: found %d tokens more than the %d that the model takes, and %d in the %s text, which alone may be cut"
                            .formatted(tooMany, maxLength, tokens, which));
        }
        return tokens - tooMany;
    }
}
