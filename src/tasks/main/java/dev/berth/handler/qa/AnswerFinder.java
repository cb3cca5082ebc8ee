package dev.berth.handler.qa;

import dev.berth.handler.task.Row;
import dev.berth.handler.task.TaskRecord;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CancellationException;

/// Runs the windows of records through a model, as many at once as it has a shape for, and finds
/// the answers in them. Runs on the workers' threads, and may run on several at once.
final class AnswerFinder {

    /// One window of a record on its way through the model.
    private record Window(EncodedQuestion record, int number, Row row, SpanSearch search) {}

    private AnswerFinder() {}

    /// What is found in the records, in their order.
    static List<Spans> find(List<TaskRecord<EncodedQuestion, Parameters>> records, SpanModel model) {
        var searches = new ArrayList<SpanSearch>();
        var waiting = new ArrayList<Window>();
        int longest = 0;
        for (var asked : records) {
            var record = asked.input();
            searches.add(new SpanSearch(asked.parameters(), record.template().hasClassification(), record.context()));
            for (int w = 0; w < record.windows().count(); w++) {
                var window = new Window(record, w, record.row(w), searches.getLast());
                int length = Math.max(longest, window.row.size());
                if (!waiting.isEmpty() && waiting.size() >= model.rowsOfAForward(length)) {
                    predict(waiting, model);
                    length = window.row.size();
                }
                waiting.add(window);
                longest = length;
            }
        }
        if (!waiting.isEmpty()) {
            predict(waiting, model);
        }
        return searches.stream().map(SpanSearch::found).toList();
    }

    /// Runs the waiting windows through the model and empties the list. A long context takes many
    /// forwards, so this is the place to stop when no caller waits for the answer.
    private static void predict(List<Window> waiting, SpanModel model) {
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
                    logits,
                    r * columns,
                    window.record.contextOffset(),
                    windows.start(window.number),
                    windows.end(window.number));
        }
        waiting.clear();
    }
}
