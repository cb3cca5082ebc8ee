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

    /// An end of a row.
    public enum Side {
        LEFT,
        RIGHT
    }

    /// The numbers of tokens that are kept.
    private record Kept(int first, int second) {}

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
        var first = texts.getFirst();
        if (texts.size() == 1) {
            return List.of(cut(first, kept(first.size(), 0, special).first));
        }
        var second = texts.getLast();
        var kept = kept(first.size(), second.size(), special);
        return List.of(cut(first, kept.first), cut(second, kept.second));
    }

    private Tokens cut(Tokens text, int length) {
        int from = side == Side.RIGHT ? 0 : text.size() - length;
        return length == text.size() ? text : text.part(from, from + length);
    }

    private Kept kept(int first, int second, int special) {
        int room = Math.max(0, maxLength - special);
        int tooMany = first + second - room;
        if (tooMany <= 0) {
            return new Kept(first, second);
        }
        if (room == 0) {
            return new Kept(0, 0);
        }
        return switch (strategy) {
            case LONGEST_FIRST -> longestFirst(first, second, room);
            case ONLY_FIRST -> new Kept(shortened(first, tooMany, "first"), second);
            case ONLY_SECOND -> new Kept(first, shortened(second, tooMany, "second"));
        };
    }

    private static Kept longestFirst(int first, int second, int room) {
        int shorter = Math.min(first, second);
        int longer = Math.max(shorter, room - shorter);
        if (shorter + longer > room) {
            shorter = room / 2;
            longer = shorter + room % 2;
        }
        return first > second ? new Kept(longer, shorter) : new Kept(shorter, longer);
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
