package dev.berth.conformance;

import java.math.BigDecimal;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;

/// What batch transform asks a container for. Records are answered in the type that they come in.
final class BatchChecks {

  private static final Set<String> PARAMETERS =
      Set.of("MaxConcurrentTransforms", "BatchStrategy", "MaxPayloadInMB");

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
    Check.expect(
        answer.json() instanceof Map<?, ?> json && PARAMETERS.containsAll(json.keySet()),
        answer.shown());
    return answer.shown();
  }

  private static String typesOfExecutionParameters(Container container) throws Exception {
    var answer = container.get("/execution-parameters");
    if (answer.status() == 404) {
      throw new Check.NotAsked("it has no execution parameters");
    }
    var strategy = Json.at(answer.json(), "BatchStrategy");
    Check.expect(
        strategy == null || strategy.equals("MULTI_RECORD") || strategy.equals("SINGLE_RECORD"),
        "BatchStrategy " + strategy);
    int product = number(answer, "MaxConcurrentTransforms") * number(answer, "MaxPayloadInMB");
    Check.expect(product <= 100, "MaxConcurrentTransforms × MaxPayloadInMB is " + product);
    return strategy + ", product " + product;
  }

  private static int number(Container.Answer answer, String name) throws Check.Missed {
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
    Check.expect(
        lines(with).equals(lines(without)), "another answer with a newline: " + with.shown());
    return "one prediction, with and without a newline";
  }

  private static String manyRecords(Container container) throws Exception {
    var records = records(container);
    var alone = new ArrayList<String>();
    for (var record : records) {
      alone.addAll(lines(send(container, record)));
    }
    for (var end : List.of("\n", "\r\n")) {
      var answer = send(container, String.join(end, records));
      int found = lines(answer).size();
      Check.expect(
          found == records.size(),
          found
              + " predictions for "
              + records.size()
              + " lines that end with "
              + (end.length() == 1 ? "LF" : "CRLF"));
    }
    Check.expect(
        alone.size() == records.size(),
        alone.size() + " predictions for " + records.size() + " requests of one line");
    return records.size() + " predictions for " + records.size() + " lines, with LF and CRLF";
  }

  private static String jsonLines(Container container) throws Exception {
    if (!container.linesType().startsWith("application/jsonlines")) {
      throw new Check.NotAsked("needs --lines FILE of --lines-type application/jsonlines");
    }
    var records = records(container);
    var answer = send(container, String.join("\n", records));
    int found = lines(answer).size();
    Check.expect(found == records.size(), found + " lines for " + records.size() + " records");
    return found + " lines of JSON";
  }

  /// Batch transform puts a newline behind each answer where it assembles lines. Two of them make a
  /// blank line.
  private static String assembled(Container container) throws Exception {
    var answer = send(container, records(container).get(0));
    Check.expect(!answer.text().endsWith("\n\n"), "an answer that ends with two newlines");
    return answer.text().endsWith("\n")
        ? "an answer ends with a newline"
        : "an answer ends without a newline";
  }

  private static String eightAtOnce(Container container) throws Exception {
    var records = records(container);
    var expected = new ArrayList<List<String>>();
    for (int i = 0; i < 8; i++) {
      expected.add(lines(send(container, records.get(i % records.size()))));
    }
    var all = new ArrayList<CompletableFuture<Container.Answer>>();
    for (int i = 0; i < 8; i++) {
      all.add(container.sendAsync(request(container, records.get(i % records.size()))));
    }
    for (int i = 0; i < 8; i++) {
      var answer = all.get(i).get();
      Check.expect(answer.isSuccess(), answer.shown());
      Check.expect(
          first(lines(answer)).equals(first(expected.get(i))),
          "the answer of another request: " + answer.shown());
    }
    return "8 at once, each its own answer";
  }

  /// What models compute may differ in its last digits when records share a batch, so only the
  /// beginning is compared.
  private static String first(List<String> lines) {
    var line = lines.isEmpty() ? "" : lines.get(0);
    return line.replaceAll("(\\d\\.\\d{3})\\d+", "$1");
  }

  private static String retries(Container container) throws Exception {
    var first = container.invoke();
    for (int i = 0; i < 2; i++) {
      var again = container.invoke();
      Check.expect(
          again.status() == first.status() && Arrays.equals(again.body(), first.body()),
          "another answer: " + again.shown());
    }
    return "three times the same answer";
  }

  private static List<String> records(Container container) throws Check.NotAsked {
    return new String(container.lines(), StandardCharsets.UTF_8)
        .lines()
        .filter(line -> !line.isBlank())
        .toList();
  }

  private static HttpRequest.Builder request(Container container, String body) {
    return container
        .request(
            "/invocations", "Content-Type", container.linesType(), "Accept", container.linesType())
        .POST(BodyPublishers.ofString(body));
  }

  private static Container.Answer send(Container container, String body) throws Exception {
    var answer = container.send(request(container, body));
    Check.expect(answer.isSuccess(), answer.shown());
    return answer;
  }

  private static List<String> lines(Container.Answer answer) {
    return answer.text().lines().filter(line -> !line.isBlank()).toList();
  }
}
