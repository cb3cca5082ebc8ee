package dev.berth.conformance;

import java.io.IOException;
import java.math.BigDecimal;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;

/// What batch transform asks a container for. Records are answered in the type that they come in.
final class BatchChecks {

    private static final Set<String> PARAMETERS = Set.of("MaxConcurrentTransforms", "BatchStrategy", "MaxPayloadInMB");

    private BatchChecks() {}

    static Map<String, Check> all() {
        return Map.of(
                "BAT-01", BatchChecks::executionParameters,
                "BAT-02", BatchChecks::typesOfExecutionParameters,
                "BAT-06", BatchChecks::oneRecord,
                "BAT-07", BatchChecks::manyRecords,
                "BAT-09", BatchChecks::jsonLines,
                "BAT-10", BatchChecks::assembled,
                "BAT-15", BatchChecks::eightAtOnce,
                "BAT-17", BatchChecks::retries);
    }

    private static String executionParameters(Container container) throws Exception {
        var answer = container.get("/execution-parameters");
        Check.expect(answer, 200, 404);
        if (answer.status() == 404) {
            return "404";
        }
        container.needsPaths();
        Check.expect(answer.json() instanceof Map<?, ?> json && PARAMETERS.containsAll(json.keySet()), answer.shown());
        return answer.shown();
    }

    private static String typesOfExecutionParameters(Container container) throws Exception {
        var answer = container.get("/execution-parameters");
        if (answer.status() == 404) {
            throw new Check.NotAsked("it has no execution parameters");
        }
        container.needsPaths();
        var strategy = Json.at(answer.json(), "BatchStrategy");
        Check.expect(
                strategy == null || strategy.equals("MULTI_RECORD") || strategy.equals("SINGLE_RECORD"),
                "BatchStrategy " + strategy);
        int product = number(answer, "MaxConcurrentTransforms") * number(answer, "MaxPayloadInMB");
        Check.expect(product <= 100, "MaxConcurrentTransforms × MaxPayloadInMB is " + product);
        return strategy + ", product " + product;
    }

    private static int number(Answer answer, String name) throws Check.Missed {
        try {
            if (Json.at(answer.json(), name) instanceof BigDecimal number) {
                return number.intValueExact();
            }
        } catch (ArithmeticException e) {
            // Said below.
        }
        throw new Check.Missed(name + " is no whole number: " + answer.shown());
    }

    private static String oneRecord(Container container) throws Exception {
        var line = records(container).get(0);
        var without = send(container, line);
        var with = send(container, line + "\n");
        int found = lines(without).size();
        Check.expect(found == 1, found + " predictions for one line");
        var likeness = new Likeness(without.text(), send(container, line).text());
        Check.expect(likeness.alike(without.text(), with.text()), "another answer with a newline: " + with.shown());
        return "one prediction, with and without a newline";
    }

    private static String manyRecords(Container container) throws Exception {
        var alone = Alone.ask(container);
        for (var end : List.of("\n", "\r\n")) {
            var answer = send(container, String.join(end, alone.records));
            int found = lines(answer).size();
            Check.expect(
                    found == alone.records.size(),
                    found
                            + " predictions for "
                            + alone.records.size()
                            + " lines that end with "
                            + (end.length() == 1 ? "LF" : "CRLF"));
            alone.expectOrder(lines(answer));
        }
        return "%d predictions for as many lines, with LF and CRLF%s".formatted(alone.records.size(), alone.note());
    }

    private static String jsonLines(Container container) throws Exception {
        if (!container.linesType().startsWith("application/jsonlines")) {
            throw new Check.NotAsked("needs --lines FILE of --lines-type application/jsonlines");
        }
        var alone = Alone.ask(container);
        var answer = send(container, String.join("\n", alone.records));
        var found = lines(answer);
        Check.expect(
                found.size() == alone.records.size(), found.size() + " lines for " + alone.records.size() + " records");
        for (var line : found) {
            try {
                Json.read(line);
            } catch (IOException e) {
                throw new Check.Missed("a line that is no JSON: " + line);
            }
        }
        alone.expectOrder(found);
        return found.size() + " lines of JSON" + alone.note();
    }

    /// Batch transform puts a newline behind each answer where it assembles lines. An answer that has
    /// one makes a blank line.
    private static String assembled(Container container) throws Exception {
        var record = records(container).get(0);
        var assembled =
                send(container, record).text() + "\n" + send(container, record).text() + "\n";
        Check.expect(
                assembled.lines().noneMatch(String::isBlank),
                "an answer that ends with a newline, or none, makes a blank line");
        return "an answer ends without a newline";
    }

    private static String eightAtOnce(Container container) throws Exception {
        var alone = Alone.ask(container);
        var all = new ArrayList<CompletableFuture<Answer>>();
        for (int i = 0; i < 8; i++) {
            all.add(container.sendAsync(request(container, alone.record(i))));
        }
        for (int i = 0; i < 8; i++) {
            var answer = all.get(i).get();
            Check.expect(answer.isSuccess(), answer.shown());
            Check.expect(alone.isAnswerOf(i, answer.text()), "the answer of another request: " + answer.shown());
        }
        return "8 at once, each its own answer" + alone.note();
    }

    /// Each record in a request of its own, and what came back.
    ///
    /// @param likeness what the answers to one record have in common
    private record Alone(List<String> records, List<String> answers, Likeness likeness) {

        static Alone ask(Container container) throws Exception {
            var records = BatchChecks.records(container);
            var answers = new ArrayList<String>();
            for (var record : records) {
                answers.add(send(container, record).text());
            }
            var likeness =
                    new Likeness(answers.get(0), send(container, records.get(0)).text());
            return new Alone(records, answers, likeness);
        }

        String record(int index) {
            return records.get(index % records.size());
        }

        boolean isAnswerOf(int index, String answer) {
            return likeness.alike(answers.get(index % records.size()), answer);
        }

        void expectOrder(List<String> lines) throws Check.Missed {
            for (int i = 0; i < lines.size(); i++) {
                Check.expect(
                        isAnswerOf(i, lines.get(i)),
                        "line %d is not the answer to record %d: %s".formatted(i + 1, i + 1, lines.get(i)));
            }
        }

        /// What to say where one answer could stand for any other.
        String note() {
            boolean tellApart = answers.stream().anyMatch(one -> !likeness.alike(answers.get(0), one));
            return tellApart ? "" : "; all answers are alike, so their order does not show";
        }
    }

    private static String retries(Container container) throws Exception {
        container.body();
        var likeness = new Likeness(Likeness.text(container.plain()), Likeness.text(container.invoke()));
        var again = container.invoke();
        Check.expect(again.isSuccess(), "another answer: " + again.shown());
        Check.expect(
                likeness.isKnown() && likeness.alike(Likeness.text(container.plain()), Likeness.text(again)),
                "another answer: " + again.shown());
        return "three times the same answer" + likeness.note();
    }

    private static List<String> records(Container container) throws Check.NotAsked {
        var records = new String(container.lines(), StandardCharsets.UTF_8)
                .lines()
                .filter(line -> !line.isBlank())
                .toList();
        if (records.isEmpty()) {
            throw new Check.NotAsked("--lines FILE has no line");
        }
        return records;
    }

    private static Request request(Container container, String body) {
        return Request.post(
                "/invocations",
                body.getBytes(StandardCharsets.UTF_8),
                "Content-Type",
                container.linesType(),
                "Accept",
                container.linesType());
    }

    private static Answer send(Container container, String body) throws Exception {
        var answer = container.send(request(container, body));
        Check.expect(answer.isSuccess(), answer.shown());
        return answer;
    }

    private static List<String> lines(Answer answer) {
        return answer.text().lines().filter(line -> !line.isBlank()).toList();
    }
}
