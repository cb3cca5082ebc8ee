package dev.berth.handler.qa;

import dev.berth.handler.task.Row;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CancellationException;

/// Runs the windows of records through a model, as many at once as it has a shape for, and finds
/// the answers in them. Runs on the workers' threads, and may run on several at once.
final class AnswerFinder {

    /// One window of a record on its way through the model.
    private record Window(QuestionRecord.Encoded record, int number, Row row, SpanSearch search) {}

    private final QuestionEncoder encoder;
    private final boolean hasClassification;

    /// @param hasClassification whether rows begin with a classification token
    AnswerFinder(QuestionEncoder encoder, boolean hasClassification) {
        this.encoder = encoder;
        this.hasClassification = hasClassification;
    }

    /// The answers to the records, in their order.
    List<QuestionAnswer> find(List<QuestionRecord> records, SpanModel model) {
        var searches = records.stream().map(this::search).toList();
        var waiting = new ArrayList<Window>();
        int longest = 0;
        for (int i = 0; i < records.size(); i++) {
            if (!(records.get(i) instanceof QuestionRecord.Encoded record)) {
                continue;
            }
            for (int w = 0; w < record.windows().count(); w++) {
                var window = new Window(record, w, encoder.row(record, w), searches.get(i));
                int length = Math.max(longest, window.row.ids().length);
                if (!waiting.isEmpty() && waiting.size() >= model.rowsOfAForward(length)) {
                    predict(waiting, model);
                    length = window.row.ids().length;
                }
                waiting.add(window);
                longest = length;
            }
        }
        if (!waiting.isEmpty()) {
            predict(waiting, model);
        }
        var answers = new ArrayList<QuestionAnswer>(records.size());
        for (int i = 0; i < records.size(); i++) {
            answers.add(answer(records.get(i), searches.get(i)));
        }
        return answers;
    }

    /// A record that was rejected has no search and needs none.
    private SpanSearch search(QuestionRecord record) {
        return switch (record) {
            case QuestionRecord.Encoded encoded ->
                new SpanSearch(encoded.question().parameters(), hasClassification, encoded.context());
            case QuestionRecord.Rejected _ -> null;
        };
    }

    /// Runs the waiting windows through the model and empties the list. A long context takes many
    /// forwards, so this is the place to stop when no caller waits for the answer.
    private void predict(List<Window> waiting, SpanModel model) {
        if (Thread.currentThread().isInterrupted()) {
            throw new CancellationException("nobody waits for this batch any more");
        }
        var rows = waiting.stream().map(Window::row).toList();
        var logits = model.forward(rows);
        int columns = logits.columns();
        int least = rows.size() * columns;
        if (rows.stream().anyMatch(row -> row.size() > columns)
                || Math.min(logits.start().length, logits.end().length) < least) {
            throw new IllegalStateException(
                    "the model returned %d start and %d end logits in rows of %d for %s tokens, expected one of each for each token"
                            .formatted(
                                    logits.start().length,
                                    logits.end().length,
                                    columns,
                                    rows.stream().map(Row::size).toList()));
        }
        for (int r = 0; r < waiting.size(); r++) {
            var window = waiting.get(r);
            var windows = window.record.windows();
            window.search.add(
                    logits.start(),
                    logits.end(),
                    r * logits.columns(),
                    encoder.contextOffset(window.record),
                    windows.start(window.number),
                    windows.end(window.number));
        }
        waiting.clear();
    }

    /// The answers to a record from what was found in its pieces. Runs on a thread for hooks.
    QuestionAnswer join(QuestionRecord.Encoded record, List<QuestionAnswer> parts) {
        var pieces = new ArrayList<Spans>(parts.size());
        for (var part : parts) {
            if (!(part instanceof QuestionAnswer.Answered(var _, var _, var _, var spans)) || spans == Spans.NONE) {
                throw new IllegalStateException(
                        "found an answer of predictFn's own to a piece of a record; a predictFn that changes "
                                + "answers needs whole records, with a split that returns List.of(record)");
            }
            pieces.add(spans);
        }
        return answered(record, Answers.of(record.question(), Spans.of(pieces)), Spans.NONE);
    }

    private static QuestionAnswer answer(QuestionRecord record, SpanSearch search) {
        return switch (record) {
            case QuestionRecord.Rejected(var message) -> new QuestionAnswer.Rejected(message);
            case QuestionRecord.Encoded piece when piece.isPiece() -> answered(piece, List.of(), search.found());
            case QuestionRecord.Encoded whole ->
                answered(whole, Answers.of(whole.question(), search.found()), Spans.NONE);
        };
    }

    private static QuestionAnswer answered(QuestionRecord.Encoded record, List<Answer> answers, Spans spans) {
        var question = record.question();
        return new QuestionAnswer.Answered(answers, question.parameters().topK() > 1, question.alone(), spans);
    }
}
