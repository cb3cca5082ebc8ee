package dev.berth.handler.qa;

import java.util.List;

/// What was found in some windows of a record, to be put together with what was found in the others.
public final class Spans {

  static final Spans NONE = new Spans(List.of(), Double.POSITIVE_INFINITY);

  private final List<SpanSearch.Span> best;
  private final double noAnswer;

  /// @param best as many as the caller asked for, in any order
  /// @param noAnswer the score of "no answer"
  Spans(List<SpanSearch.Span> best, double noAnswer) {
    this.best = List.copyOf(best);
    this.noAnswer = noAnswer;
  }

  List<SpanSearch.Span> best() {
    return best;
  }

  double noAnswer() {
    return noAnswer;
  }
}
