package dev.berth.handler.qa;

import dev.berth.handler.task.Row;
import dev.berth.handler.task.TaskRecord;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CancellationException;
import java.util.stream.Stream;

/// Runs the windows of records through a model, as many at once as it has a shape for, and finds
/// the answers in them. Runs on the workers' threads, and may run on several at once.
final class AnswerFinder {

    /// One window of a record on its way through the model.
    ///
    /// @param found the spans of the record's windows before it
    private record Window(SpanSearch search, Row row, List<Spans> found) {}

    private AnswerFinder() {}

    /// What is found in the records, in their order.
    static List<Spans> find(List<TaskRecord<EncodedQuestion, Parameters>> records, SpanModel model) {
        var found = new ArrayList<List<Spans>>();
        var waiting = new ArrayList<Window>();
        for (var asked : records) {
            var record = asked.input();
            found.add(new ArrayList<>());
            for (int w = 0; w < record.windows().count(); w++) {
                var search = new SpanSearch(record, asked.parameters(), w);
                var window = new Window(search, record.row(w), found.getLast());
                if (!waiting.isEmpty() && waiting.size() >= model.rowsOfAForward(longest(waiting, window))) {
                    predict(waiting, model);
                }
                waiting.add(window);
            }
        }
        if (!waiting.isEmpty()) {
            predict(waiting, model);
        }
        return found.stream().map(Spans::of).toList();
    }

    private static int longest(List<Window> waiting, Window next) {
        return Stream.concat(waiting.stream(), Stream.of(next))
                .mapToInt(window -> window.row.size())
                .max()
                .orElseThrow();
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
            window.found.add(window.search.in(logits, r * columns));
        }
        waiting.clear();
    }
}
