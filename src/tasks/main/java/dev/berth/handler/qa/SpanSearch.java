package dev.berth.handler.qa;

import dev.berth.tokenizer.Tokens;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.PriorityQueue;

/// Finds the best spans of each window of one record, as the question-answering pipeline of
/// `transformers` 4.53 does. [Spans] makes answers of them.
///
/// For each window a softmax turns the start logits into probabilities, and another one the end
/// logits. The context's tokens take part in it, and so does the classification token, whether "no
/// answer" is asked for or not. A span from token i to token j ≥ i, not longer than
/// `max_answer_len`, scores p_start(i) · p_end(j). Each window gives its `top_k` best. "No answer"
/// scores the smallest p_start · p_end of the classification token over the windows; without such a
/// token it scores 0.
///
/// Four things differ from the pipeline on purpose:
///
/// - Logits that are no numbers are an error.
/// - Probabilities have double precision; the pipeline's have single precision.
/// - Of spans that score the same, the one that begins and then ends earlier is the first; the
///   pipeline leaves that open.
/// - A window of fewer than `top_k` spans gives those. The pipeline fills up with empty and
///   reversed spans that score 0.
///
/// @param hasClassification whether rows begin with a classification token
/// @param context all tokens of the record's context
record SpanSearch(Parameters parameters, boolean hasClassification, Tokens context) {

    /// A span of tokens, `last` inclusive.
    private record Candidate(int first, int last, double score) {}

    /// The better first; a tie goes to the one that begins, and then ends, earlier.
    private static final Comparator<Candidate> BEST_FIRST = Comparator.comparingDouble(Candidate::score)
            .reversed()
            .thenComparingInt(Candidate::first)
            .thenComparingInt(Candidate::last);

    /// What one window shows.
    ///
    /// @param logits of a whole batch
    /// @param row where the window's row begins in both, with the classification token if there is
    ///   one
    /// @param offset where the context's tokens begin in the row
    /// @param first which token of the context is the window's first
    /// @param stop which one comes after the window's last
    Spans of(SpanModel.Logits logits, int row, int offset, int first, int stop) {
        var start = probabilities(logits.start(), row, row + offset, stop - first);
        var end = probabilities(logits.end(), row, row + offset, stop - first);
        return new Spans(
                best(start, end).stream()
                        .map(candidate -> span(candidate, first, stop))
                        .toList(),
                start[0] * end[0]);
    }

    /// The best spans of a window, the best first; their tokens count from the window's first, the
    /// probability of which stands behind that of the classification token.
    private List<Candidate> best(double[] start, double[] end) {
        var best = new PriorityQueue<>(BEST_FIRST.reversed());
        for (int i = 1; i < start.length; i++) {
            int stop = (int) Math.min(start.length, (long) i + parameters.maxAnswerLength());
            for (int j = i; j < stop; j++) {
                double score = start[i] * end[j];
                // Most spans are none of the best, and are not made.
                if (best.size() < parameters.topK() || score > best.peek().score()) {
                    best.add(new Candidate(i - 1, j - 1, score));
                    if (best.size() > parameters.topK()) {
                        best.poll();
                    }
                }
            }
        }
        var sorted = new ArrayList<>(best);
        sorted.sort(BEST_FIRST);
        return sorted;
    }

    /// Where a candidate of the window from `first` to `stop` stands in the context's text. Words end
    /// where the window does.
    private Spans.Span span(Candidate candidate, int first, int stop) {
        int from = first + candidate.first();
        int to = first + candidate.last();
        // A special token that is written out in the context belongs to no word.
        if (parameters.alignToWords() && context.words()[from] >= 0 && context.words()[to] >= 0) {
            return new Spans.Span(context.wordStart(from, first), context.wordEnd(to, stop), candidate.score());
        }
        return new Spans.Span(context.starts()[from], context.ends()[to], candidate.score());
    }

    /// The softmax of the classification token, which is 0 where there is none, and of the context's
    /// tokens behind it.
    private double[] probabilities(float[] logits, int classification, int from, int tokens) {
        var values = new double[1 + tokens];
        values[0] = hasClassification ? logits[classification] : Double.NEGATIVE_INFINITY;
        for (int i = 0; i < tokens; i++) {
            values[1 + i] = logits[from + i];
        }
        double largest = Double.NEGATIVE_INFINITY;
        for (double value : values) {
            largest = Math.max(largest, value);
        }
        double sum = 0;
        for (int i = 0; i < values.length; i++) {
            values[i] = Math.exp(values[i] - largest);
            sum += values[i];
        }
        if (!(sum > 0) || sum == Double.POSITIVE_INFINITY) {
            throw new ArithmeticException("the model's logits are no numbers");
        }
        for (int i = 0; i < values.length; i++) {
            values[i] /= sum;
        }
        return values;
    }
}
