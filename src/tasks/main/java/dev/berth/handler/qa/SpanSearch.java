package dev.berth.handler.qa;

import dev.berth.handler.task.Best;
import dev.berth.handler.task.ScoreFunction;
import java.util.Arrays;

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
/// @param window the number of the window in the record
record SpanSearch(EncodedQuestion record, Parameters parameters, int window) {

    /// What the window shows.
    ///
    /// @param logits of a whole batch
    /// @param row where the window's row begins in both, with the classification token if there is
    ///   one
    Spans in(SpanModel.Logits logits, int row) {
        int first = record.windows().start(window);
        int stop = record.windows().end(window);
        var starts = probabilities(logits.start(), row, stop - first);
        var ends = probabilities(logits.end(), row, stop - first);
        int tokens = stop - first;
        var best = new Best(parameters.topK());
        for (int i = 0; i < tokens; i++) {
            int end = (int) Math.min(tokens, (long) i + parameters.maxAnswerLength());
            for (int j = i; j < end; j++) {
                // The number of a span from token i to token j.
                best.add((long) i * tokens + j, starts[1 + i] * ends[1 + j]);
            }
        }
        return new Spans(
                best.found().stream()
                        .map(span -> span(
                                first + (int) (span.number() / tokens),
                                first + (int) (span.number() % tokens),
                                first,
                                stop,
                                span.score()))
                        .toList(),
                starts[0] * ends[0]);
    }

    /// A span of the window from `first` to `stop` in the context's text. Words end where the window
    /// does.
    private Spans.Span span(int from, int to, int first, int stop, double score) {
        var context = record.context();
        // A special token that is written out in the context belongs to no word.
        return parameters.alignToWords() && context.words()[from] >= 0 && context.words()[to] >= 0
                ? new Spans.Span(context.wordStart(from, first), context.wordEnd(to, stop), score)
                : new Spans.Span(context.starts()[from], context.ends()[to], score);
    }

    /// The softmax of the classification token, which is 0 where there is none, and of the context's
    /// tokens behind it.
    private double[] probabilities(float[] logits, int row, int tokens) {
        var values = new double[1 + tokens];
        values[0] = record.template().hasClassification() ? logits[row] : Double.NEGATIVE_INFINITY;
        for (int i = 0; i < tokens; i++) {
            values[1 + i] = logits[row + record.contextOffset() + i];
        }
        ScoreFunction.softmax(values);
        if (!(Arrays.stream(values).sum() > 0)) {
            throw new ArithmeticException("the model's logits are no numbers");
        }
        return values;
    }
}
