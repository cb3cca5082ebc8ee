package dev.berth.handler.qa;

import java.util.List;

/// What was found in the windows of a record, or in some of them.
public final class Spans {

    /// A span of the context in code points, `end` exclusive.
    record Span(int start, int end, double score) {}

    static final Spans NONE = new Spans(List.of(), Double.POSITIVE_INFINITY);

    private final List<Span> found;
    private final double noAnswer;

    /// @param found the best spans of each window: one window after another, in each the best first
    /// @param noAnswer the score of "no answer"
    Spans(List<Span> found, double noAnswer) {
        this.found = List.copyOf(found);
        this.noAnswer = noAnswer;
    }

    /// The spans of all pieces of a record.
    ///
    /// @param pieces in the order of the pieces
    static Spans of(List<Spans> pieces) {
        return new Spans(
                pieces.stream().flatMap(piece -> piece.found.stream()).toList(),
                pieces.stream().mapToDouble(Spans::noAnswer).min().orElseThrow());
    }

    List<Span> found() {
        return found;
    }

    double noAnswer() {
        return noAnswer;
    }
}
