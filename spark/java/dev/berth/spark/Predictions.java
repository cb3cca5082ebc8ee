package dev.berth.spark;

import dev.berth.error.ErrorType;
import dev.berth.error.ServingException;
import dev.berth.inprocess.InProcessModel;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Iterator;
import java.util.List;
import java.util.NoSuchElementException;
import java.util.Optional;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.apache.spark.TaskContext;
import org.apache.spark.api.java.function.MapPartitionsFunction;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.RowFactory;
import org.apache.spark.util.TaskCompletionListener;

/// The predictions of one partition. The last column of each row is its record; a prediction and an
/// error take its place.
final class Predictions implements MapPartitionsFunction<Row, Row> {

    private static final Set<ErrorType> OF_THE_RECORD = Set.of(ErrorType.BAD_INPUT, ErrorType.PAYLOAD_TOO_LARGE);

    private final Terms terms;

    Predictions(Terms terms) {
        this.terms = terms;
    }

    @Override
    public Iterator<Row> call(Iterator<Row> rows) throws Exception {
        return new Answered(rows, terms, ExecutorModels.get(terms));
    }

    /// What came of a record: an answer or what is wrong with it.
    private record Outcome(String answer, String error) {}

    private static final class Answered implements Iterator<Row> {

        /// While one request is answered, the next one is decoded.
        private static final int AHEAD = 2;

        private final Iterator<Row> rows;
        private final Terms terms;
        private final InProcessModel model;
        private final RecordForm requests;
        private final RecordForm answers;
        private final int batchSize;
        private final ExecutorService callers = Executors.newVirtualThreadPerTaskExecutor();
        private final Queue<Future<List<Row>>> asked = new ArrayDeque<>();
        private Iterator<Row> answered = Collections.emptyIterator();

        Answered(Iterator<Row> rows, Terms terms, InProcessModel model) {
            this.rows = rows;
            this.terms = terms;
            this.model = model;
            this.requests = RecordForm.of(terms.contentType(), "contentType");
            this.answers = RecordForm.of(terms.accept(), "accept");
            this.batchSize = terms.givenBatchSize().orElse(model.batchSize());
            // Also of a task that is killed, or whose rows are not all wanted.
            TaskContext.get().addTaskCompletionListener((TaskCompletionListener) _ -> callers.shutdownNow());
        }

        @Override
        public boolean hasNext() {
            while (!answered.hasNext()) {
                while (asked.size() < AHEAD && rows.hasNext()) {
                    var batch = new ArrayList<Row>(batchSize);
                    while (batch.size() < batchSize && rows.hasNext()) {
                        batch.add(rows.next());
                    }
                    asked.add(callers.submit(() -> ask(batch)));
                }
                if (asked.isEmpty()) {
                    return false;
                }
                answered = result(asked.remove()).iterator();
            }
            return true;
        }

        @Override
        public Row next() {
            if (!hasNext()) {
                throw new NoSuchElementException();
            }
            return answered.next();
        }

        private List<Row> ask(List<Row> batch) throws Exception {
            var outcomes = new Outcome[batch.size()];
            var good = new ArrayList<Integer>(batch.size());
            for (int i = 0; i < batch.size(); i++) {
                var problem = problem(record(batch.get(i)));
                if (problem.isPresent()) {
                    outcomes[i] = new Outcome(null, problem.get());
                } else {
                    good.add(i);
                }
            }
            var found = outcomes(good.stream().map(i -> record(batch.get(i))).toList());
            for (int i = 0; i < good.size(); i++) {
                outcomes[good.get(i)] = found.get(i);
            }
            var answers = new ArrayList<Row>(batch.size());
            for (int i = 0; i < outcomes.length; i++) {
                answers.add(with(batch.get(i), outcomes[i]));
            }
            return answers;
        }

        private static String record(Row row) {
            return row.getString(row.length() - 1);
        }

        private Optional<String> problem(String record) {
            if (record == null || record.isBlank()) {
                return Optional.of("record: found %s, expected one of %s"
                        .formatted(record == null ? "null" : "nothing", terms.contentType()));
            }
            return requests.problem(record).map(problem -> "record: " + problem);
        }

        private static Row with(Row row, Outcome outcome) {
            var values = new Object[row.length() + 1];
            for (int i = 0; i < row.length() - 1; i++) {
                values[i] = row.get(i);
            }
            values[row.length() - 1] = outcome.answer;
            values[row.length()] = outcome.error;
            return RowFactory.create(values);
        }

        private List<Outcome> outcomes(List<String> records) throws Exception {
            if (records.isEmpty()) {
                return List.of();
            }
            if (requests == RecordForm.JSON) {
                return singly(records);
            }
            try {
                return together(records);
            } catch (ServingException e) {
                if (!OF_THE_RECORD.contains(e.type())) {
                    throw e;
                }
                // Asked one by one, they tell which of them it was.
                return records.size() == 1 ? List.of(new Outcome(null, e.getMessage())) : singly(records);
            }
        }

        private List<Outcome> singly(List<String> records) throws Exception {
            var each = records.stream()
                    .map(record -> callers.submit(() -> alone(record)))
                    .toList();
            var outcomes = new ArrayList<Outcome>(each.size());
            for (var outcome : each) {
                outcomes.add(result(outcome));
            }
            return outcomes;
        }

        private Outcome alone(String record) throws IOException {
            try {
                return together(List.of(record)).getFirst();
            } catch (ServingException e) {
                if (!OF_THE_RECORD.contains(e.type())) {
                    throw e;
                }
                return new Outcome(null, e.getMessage());
            }
        }

        private List<Outcome> together(List<String> records) throws IOException {
            var body = String.join("\n", records).getBytes(StandardCharsets.UTF_8);
            var response = model.invoke(terms.requestType(), body, terms.responseType());
            var found = answers.split(new String(response.body(), StandardCharsets.UTF_8));
            if (found.size() != records.size()) {
                throw new IllegalStateException("outputFn: found %d answers of %s, expected %d, one for each record"
                        .formatted(found.size(), response.contentType(), records.size()));
            }
            return found.stream().map(answer -> new Outcome(answer, null)).toList();
        }

        /// Throws what the task threw, unchecked or wrapped.
        private static <T> T result(Future<T> task) {
            try {
                return task.get();
            } catch (ExecutionException e) {
                throw e.getCause() instanceof RuntimeException unchecked
                        ? unchecked
                        : new IllegalStateException(e.getCause());
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
                throw new IllegalStateException("the task was interrupted while it waited for the model", e);
            }
        }
    }
}
