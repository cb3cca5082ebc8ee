package dev.berth.handler.qa;

import java.util.List;

/// What was found in the windows of a record, or in some of them.
///
/// @param found the best spans of each window: one window after another, in each the best first
/// @param noAnswer the score of "no answer"
record Spans(List<Span> found, double noAnswer) {

    /// A span of the context in code points, `end` exclusive.
    record Span(int start, int end, double score) {

        /// This one with the score of another of the same text.
        Span with(Span other) {
            return new Span(start, end, score + other.score);
        }
    }

    Spans {
        found = List.copyOf(found);
    }

    /// The spans of all pieces of a record.
    ///
    /// @param pieces in the order of the pieces
    static Spans of(List<Spans> pieces) {
        return new Spans(
                pieces.stream().flatMap(piece -> piece.found.stream()).toList(),
                pieces.stream().mapToDouble(Spans::noAnswer).min().orElseThrow());
    }
}
