package dev.berth.handler.qa;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.PriorityQueue;

/// Finds the best spans of one record over its windows, as the question-answering pipeline of `transformers` 4 does.
///
/// For each window the start logits and the end logits of the context's tokens are turned into probabilities by a
/// softmax each; a span from token i to token j ≥ i, shorter than `max_answer_len`, scores p_start(i) · p_end(j); the
/// spans of all windows compete. With `handle_impossible_answer` the classification token takes part in both
/// softmaxes, and "no answer" scores the smallest p_start · p_end of that token over the windows; without such a token
/// it scores 0. Used by one thread, for one record.
final class SpanSearch {

  /// A span of the context in tokens, `last` inclusive; a `first` of [#NO_ANSWER] is the empty answer.
  record Span(int first, int last, double score) {}

  static final int NO_ANSWER = -1;

  /// The better first; a tie goes to the one that begins, and then ends, earlier.
  private static final Comparator<Span> BEST_FIRST =
      Comparator.comparingDouble(Span::score).reversed().thenComparingInt(Span::first).thenComparingInt(Span::last);

  private final Parameters parameters;
  private final boolean withClassification;
  private final PriorityQueue<Span> best;
  private double noAnswer = Double.POSITIVE_INFINITY;

  /// @param hasClassification whether rows begin with a classification token
  SpanSearch(Parameters parameters, boolean hasClassification) {
    this.parameters = parameters;
    this.withClassification = parameters.handleImpossibleAnswer() && hasClassification;
    this.best = new PriorityQueue<>(BEST_FIRST.reversed());
  }

  /// Adds one window.
  ///
  /// @param start the start logits of a whole batch; the window's row begins at `row`, with the classification token if there is one
  /// @param end the end logits likewise
  /// @param row where the window's row begins in both
  /// @param context where the context's tokens begin in the row
  /// @param tokens how many tokens of the context the window holds
  /// @param first which token of the context is the window's first
  void add(float[] start, float[] end, int row, int context, int tokens, int first) {
    var startSoftmax = Softmax.of(start, row, context, tokens, withClassification);
    var endSoftmax = Softmax.of(end, row, context, tokens, withClassification);
    noAnswer = Math.min(noAnswer, startSoftmax.classification() * endSoftmax.classification());
    for (int i = 0; i < tokens; i++) {
      int stop = (int) Math.min(tokens, (long) i + parameters.maxAnswerLength());
      for (int j = i; j < stop; j++) {
        offer(first + i, first + j, startSoftmax.context()[i] * endSoftmax.context()[j]);
      }
    }
  }

  /// Adds what was found in other windows.
  void add(Spans found) {
    noAnswer = Math.min(noAnswer, found.noAnswer());
    found.best().forEach(this::offer);
  }

  /// What was found so far.
  Spans found() {
    return new Spans(List.copyOf(best), noAnswer);
  }

  /// The best spans, the best first.
  List<Span> best() {
    if (parameters.handleImpossibleAnswer()) {
      offer(new Span(NO_ANSWER, NO_ANSWER, noAnswer));
    }
    var spans = new ArrayList<>(best);
    spans.sort(BEST_FIRST);
    return spans;
  }

  /// Most spans are none of the best, and are not made.
  private void offer(int first, int last, double score) {
    if (best.size() < parameters.topK() || score >= best.peek().score()) {
      offer(new Span(first, last, score));
    }
  }

  private void offer(Span span) {
    best.add(span);
    if (best.size() > parameters.topK()) {
      best.poll();
    }
  }

  /// Probabilities in double precision, so that a thousand tokens lose nothing.
  private record Softmax(double classification, double[] context) {

    static Softmax of(float[] logits, int row, int offset, int tokens, boolean withClassification) {
      double largest = withClassification ? logits[row] : Double.NEGATIVE_INFINITY;
      for (int i = 0; i < tokens; i++) {
        largest = Math.max(largest, logits[row + offset + i]);
      }
      double classification = withClassification ? Math.exp(logits[row] - largest) : 0;
      double sum = classification;
      var context = new double[tokens];
      for (int i = 0; i < tokens; i++) {
        context[i] = Math.exp(logits[row + offset + i] - largest);
        sum += context[i];
      }
      if (!(sum > 0) || sum == Double.POSITIVE_INFINITY) {
        throw new ArithmeticException("the model's logits are no numbers");
      }
      for (int i = 0; i < tokens; i++) {
        context[i] /= sum;
      }
      return new Softmax(classification / sum, context);
    }
  }
}
