package dev.berth.handler.qa;

import java.util.List;
import java.util.stream.IntStream;

/// The windows through which a context of any length is read, each as large as the model has room
/// for, overlapping so that an answer at a border is whole in one of them. They are counted and
/// never listed: a context may have a million.
///
/// @param tokens the context's tokens
/// @param room the most tokens of a window
/// @param step how far the next window begins after the last
/// @param first the number of the first window; 0 unless these are a piece of all
/// @param count how many there are
public record Windows(int tokens, int room, int step, int first, int count) {

    /// @param room the most tokens of a window, at least 1
    /// @param stride the tokens that neighbouring windows share, less than `room`
    static Windows over(int tokens, int room, int stride) {
        int step = room - stride;
        return new Windows(tokens, room, step, 0, tokens <= room ? 1 : 1 + Math.ceilDiv(tokens - room, step));
    }

    /// The same windows in pieces of up to `most`.
    List<Windows> pieces(int most) {
        return IntStream.range(0, Math.ceilDiv(count, most))
                .mapToObj(piece ->
                        new Windows(tokens, room, step, first + piece * most, Math.min(most, count - piece * most)))
                .toList();
    }

    /// Whether they cover the context.
    boolean areAll() {
        return first == 0 && end(count - 1) == tokens;
    }

    int start(int window) {
        return (first + window) * step;
    }

    int end(int window) {
        return (int) Math.min(tokens, (long) start(window) + room);
    }

    /// The tokens of all windows together; those that windows share count in each.
    long totalTokens() {
        return (count - 1L) * room + end(count - 1) - start(count - 1);
    }
}
