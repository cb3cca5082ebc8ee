package dev.berth.conformance;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.net.http.HttpRequest.BodyPublishers;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Stream;

/// `POST /invocations`: bodies of all sizes, connections, errors.
final class InvocationChecks {

  private static final byte[] NO_JSON = "{\"a\": [1, 2".getBytes(StandardCharsets.US_ASCII);

  private InvocationChecks() {}

  static Map<String, Check> all() {
    return Map.ofEntries(
        Map.entry("INV-01", InvocationChecks::aValidRequest),
        Map.entry("INV-02", InvocationChecks::get),
        Map.entry("INV-03", InvocationChecks::anUnknownPath),
        Map.entry("INV-06", container -> large(container, 6_291_456)),
        Map.entry(
            "INV-07",
            container -> large(container, 25_000_000) + "; " + large(container, 25 << 20)),
        Map.entry("INV-08", InvocationChecks::beyondTheLimit),
        Map.entry("INV-10", InvocationChecks::chunked),
        Map.entry("INV-11", InvocationChecks::nothing),
        Map.entry("INV-13", InvocationChecks::moreThanItCan),
        Map.entry("INV-14", InvocationChecks::oneConnection),
        Map.entry("INV-15", InvocationChecks::expectContinue),
        Map.entry("ERR-01", InvocationChecks::malformed),
        Map.entry("ERR-03", InvocationChecks::manyErrors),
        Map.entry("ERR-05", InvocationChecks::errorsInOtherScripts),
        Map.entry("OBS-03", InvocationChecks::metrics));
  }

  private static String aValidRequest(Container container) throws Exception {
    var answer = container.invoke();
    Check.expect(answer.isSuccess(), answer.shown());
    Check.expect(
        !answer.header("Content-Type").isEmpty(), answer.status() + " without a Content-Type");
    return answer.status() + " " + answer.header("Content-Type");
  }

  private static String get(Container container) throws Exception {
    var answer = container.get("/invocations");
    Check.expect(answer, 405);
    Check.expect(answer.header("Allow").contains("POST"), "405, Allow: " + answer.header("Allow"));
    return "405, Allow: " + answer.header("Allow");
  }

  private static String anUnknownPath(Container container) throws Exception {
    var answer = container.get("/no-such-path");
    Check.expect(answer, 404);
    answer.json();
    Check.expect(
        answer.body().length <= Container.LONGEST_MESSAGE,
        "404 with " + answer.body().length + " bytes");
    return "404 with JSON";
  }

  /// White space behind JSON changes nothing but its size.
  private static String large(Container container, int size) throws Exception {
    needsJson(container);
    var body = Arrays.copyOf(container.body(), size);
    Arrays.fill(body, container.body().length, size, (byte) ' ');
    var answer = container.post("/invocations", body, "Content-Type", container.type());
    Check.expect(answer.isSuccess(), "%,d bytes: %s".formatted(size, answer.shown()));
    return "%,d bytes: %d".formatted(size, answer.status());
  }

  private static String beyondTheLimit(Container container) throws Exception {
    var head =
        """
        POST /invocations HTTP/1.1\r
        Host: x\r
        Content-Type: application/json\r
        Content-Length: 100000000000\r
        \r
        """;
    String answer;
    try {
      answer =
          container.raw(container.timeout(), List.of(head.getBytes(StandardCharsets.US_ASCII)));
    } catch (IOException e) {
      throw new Check.Missed("the connection broke without an answer: " + e.getMessage());
    }
    Check.expect(
        answer.startsWith("HTTP/1.1 413"),
        "100 GB announced: " + answer.lines().findFirst().orElse("no answer"));
    container.expectHealth();
    return "100 GB announced: 413 before they are sent";
  }

  private static String chunked(Container container) throws Exception {
    var body = container.body();
    var answer =
        container.send(
            container
                .request("/invocations", "Content-Type", container.type())
                .POST(BodyPublishers.ofInputStream(() -> new ByteArrayInputStream(body))));
    Check.expect(answer.isSuccess(), answer.shown());
    container.expectSame(answer);
    return answer.status() + ", the same answer as with a length";
  }

  private static String nothing(Container container) throws Exception {
    var answer = container.post("/invocations", new byte[0], "Content-Type", container.type());
    Check.expect(answer, 204, 400);
    return answer.shown();
  }

  private static String moreThanItCan(Container container) throws Exception {
    container.body();
    var all =
        Stream.generate(
                () -> {
                  try {
                    return container.sendAsync(container.invocation());
                  } catch (Check.NotAsked e) {
                    return CompletableFuture.<Container.Answer>failedFuture(e);
                  }
                })
            .limit(64)
            .toList();
    container.expectHealth();
    int refused = 0;
    for (var one : all) {
      var answer = one.get();
      Check.expect(answer.isSuccess() || answer.status() == 503, answer.shown());
      refused += answer.status() == 503 ? 1 : 0;
    }
    return "64 at once: %d answered, %d refused with 503".formatted(64 - refused, refused);
  }

  private static String oneConnection(Container container) throws Exception {
    container.invoke();
    for (int i = 0; i < 1000; i++) {
      var answer = container.sendOnce(container.invocation());
      Check.expect(answer.isSuccess(), "request %d: %s".formatted(i + 1, answer.shown()));
    }
    return "1000 times 2xx";
  }

  private static String expectContinue(Container container) throws Exception {
    var head =
        "POST /invocations HTTP/1.1\r\nHost: x\r\nContent-Type: %s\r\nContent-Length: %d\r\nExpect: 100-continue\r\n"
                .formatted(container.type(), container.body().length)
            + "Connection: close\r\n\r\n";
    var answer =
        container.raw(
            container.timeout(),
            List.of(head.getBytes(StandardCharsets.US_ASCII), container.body()));
    Check.expect(
        answer.matches("(?s).*HTTP/1\\.1 2\\d\\d.*"),
        answer.lines().findFirst().orElse("no answer"));
    return answer.startsWith("HTTP/1.1 100") ? "100, then 2xx" : "2xx";
  }

  private static String malformed(Container container) throws Exception {
    needsJson(container);
    var answer = container.post("/invocations", NO_JSON, "Content-Type", "application/json");
    Check.expect(answer.status() >= 400 && answer.status() < 500, answer.shown());
    expectMessage(answer);
    return answer.shown();
  }

  /// A caller sees 2,048 characters of it, and never how the server is made.
  private static void expectMessage(Container.Answer answer) throws Check.Missed {
    Check.expect(
        answer.text().length() <= Container.LONGEST_MESSAGE,
        answer.text().length() + " characters of a message");
    Check.expect(
        !answer.text().contains("Traceback (most recent call last)")
            && !answer.text().contains("\tat "),
        answer.status() + " with a stack trace");
  }

  private static String manyErrors(Container container) throws Exception {
    needsJson(container);
    for (int i = 0; i < 1000; i++) {
      container.post("/invocations", NO_JSON, "Content-Type", "application/json");
    }
    container.expectHealth();
    return "200 after 1000 errors";
  }

  private static String errorsInOtherScripts(Container container) throws Exception {
    needsJson(container);
    var body = "{\"日本語\": \"ü".getBytes(StandardCharsets.UTF_8);
    var answer = container.post("/invocations", body, "Content-Type", "application/json");
    Check.expect(answer.status() >= 400, answer.shown());
    answer.json();
    return answer.status() + " with JSON in UTF-8";
  }

  private static String metrics(Container container) throws Exception {
    var answer = container.get("/metrics");
    if (answer.status() == 404) {
      throw new Check.NotAsked("it has no metrics: 404");
    }
    Check.expect(answer, 200);
    Check.expect(
        answer
            .text()
            .lines()
            .anyMatch(line -> line.matches("[a-zA-Z_:][a-zA-Z0-9_:]*(\\{.*})? \\S+.*")),
        "200, but not Prometheus's text form");
    return "200 in Prometheus's text form";
  }

  private static void needsJson(Container container) throws Check.NotAsked {
    if (!container.takesJson()) {
      throw new Check.NotAsked("needs a model that takes application/json");
    }
  }
}
