package dev.berth.handler.qa;

import dev.berth.handler.task.Best;
import dev.berth.handler.task.Row;
import dev.berth.handler.task.ScoreFunction;
import dev.berth.handler.task.TaskRecord;
import dev.berth.tokenizer.Encoding;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CancellationException;
import java.util.stream.DoubleStream;
import java.util.stream.Gatherers;
import java.util.stream.IntStream;

/// Runs the windows of records through a model, as many at once as it has a shape for, and finds the
/// best spans of each as the question-answering pipeline of `transformers` 4.53 does. [Spans] makes
/// answers of them. Runs on the workers' threads, and may run on several at once.
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
final class AnswerFinder {

    private AnswerFinder() {}

    /// What is found in the records, in their order.
    static List<Spans> find(List<TaskRecord<EncodedQuestion, Parameters>> records, SpanModel model) {
        var questions = records.stream().map(TaskRecord::input).toList();
        int longest =
                questions.stream().mapToInt(EncodedQuestion::longestRow).max().orElseThrow();
        int windows = questions.stream()
                .mapToInt(question -> question.windows().count())
                .sum();
        var found = records.stream().map(_ -> new ArrayList<Spans>()).toList();
        IntStream.range(0, records.size())
                .boxed()
                .flatMap(i -> IntStream.range(0, questions.get(i).windows().count())
                        .mapToObj(window -> new Window(
                                questions.get(i),
                                records.get(i).parameters(),
                                window,
                                questions.get(i).row(window),
                                found.get(i))))
                .gather(Gatherers.windowFixed(Math.clamp(model.rowsOfAForward(longest), 1, windows)))
                .forEach(some -> predict(some, model));
        return found.stream().map(Spans::of).toList();
    }

    /// Runs windows through the model. A long context takes many forwards, so this is the place to stop
    /// when no caller waits for the answer.
    private static void predict(List<Window> windows, SpanModel model) {
        if (Thread.currentThread().isInterrupted()) {
            throw new CancellationException("nobody waits for this batch any more");
        }
        var rows = windows.stream().map(window -> new Row(window.row)).toList();
        var logits = model.forward(rows);
        int columns = logits.columns();
        if (rows.stream().anyMatch(row -> row.size() > columns)
                || Math.min(logits.start().length, logits.end().length) < rows.size() * columns) {
            throw new IllegalStateException(
                    "the model returned %d start and %d end logits in rows of %d for %s tokens, expected one of each for each token"
                            .formatted(
                                    logits.start().length,
                                    logits.end().length,
                                    columns,
                                    rows.stream().map(Row::size).toList()));
        }
        for (int r = 0; r < windows.size(); r++) {
            var window = windows.get(r);
            window.found.add(window.spans(logits, r * columns));
        }
    }

    /// One window of a record on its way through the model.
    ///
    /// @param found the spans of the record's windows before it
    private record Window(
            EncodedQuestion question, Parameters parameters, int number, Encoding row, List<Spans> found) {

        /// What the window shows.
        ///
        /// @param logits of a whole batch
        /// @param at where the window's row begins in both, with the classification token if there is
        ///   one
        Spans spans(SpanModel.Logits logits, int at) {
            int first = question.start(number);
            int tokens = question.end(number) - first;
            var starts = probabilities(logits.start(), at);
            var ends = probabilities(logits.end(), at);
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
                                    span.score()))
                            .toList(),
                    starts[0] * ends[0]);
        }

        /// A span in the context's text. Words end where the window does.
        private Spans.Span span(int from, int to, double score) {
            var context = question.context();
            // A special token that is written out in the context belongs to no word.
            return parameters.alignToWords() && context.words()[from] >= 0 && context.words()[to] >= 0
                    ? new Spans.Span(
                            context.wordStart(from, question.start(number)),
                            context.wordEnd(to, question.end(number)),
                            score)
                    : new Spans.Span(context.starts()[from], context.ends()[to], score);
        }

        /// The softmax of the classification token, which is 0 where there is none, and of the context's
        /// tokens behind it.
        private double[] probabilities(float[] logits, int at) {
            var sequences = row.sequences();
            double classification = sequences[0] < 0 ? logits[at] : Double.NEGATIVE_INFINITY;
            var context = IntStream.range(0, sequences.length)
                    .filter(i -> sequences[i] == 1)
                    .mapToDouble(i -> logits[at + i]);
            var values = DoubleStream.concat(DoubleStream.of(classification), context)
                    .toArray();
            ScoreFunction.softmax(values);
            if (!(Arrays.stream(values).sum() > 0)) {
                throw new ArithmeticException("the model's logits are no numbers");
            }
            return values;
        }
    }
}
