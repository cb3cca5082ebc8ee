package dev.berth.conformance;

import java.net.http.HttpRequest.BodyPublishers;
import java.util.Map;

/// Types that are negotiated, and headers that pass.
final class HeaderChecks {

  private HeaderChecks() {}

  static Map<String, Check> all() {
    return Map.ofEntries(
        Map.entry("INV-04", HeaderChecks::unknownHeaders),
        Map.entry("INV-05", HeaderChecks::oddCase),
        Map.entry("HDR-01", HeaderChecks::noContentType),
        Map.entry("HDR-02", HeaderChecks::charset),
        Map.entry("HDR-03", HeaderChecks::noAccept),
        Map.entry("HDR-04", HeaderChecks::anything),
        Map.entry("HDR-06", HeaderChecks::theFirstThatItCanMake),
        Map.entry("HDR-07", HeaderChecks::quality),
        Map.entry("HDR-08", HeaderChecks::unknownAccept),
        Map.entry("HDR-09", HeaderChecks::unknownContentType),
        Map.entry("HDR-10", HeaderChecks::customAttributes));
  }

  private static String unknownHeaders(Container container) throws Exception {
    var answer = container.invoke("X-Foo", "1", "X-Amzn-SageMaker-Whatever", "2");
    Check.expect(answer.isSuccess(), answer.shown());
    return String.valueOf(answer.status());
  }

  /// The JDK's client writes names as they are given, and so does the platform.
  private static String oddCase(Container container) throws Exception {
    var answer =
        container.send(
            container
                .request("/invocations", "cOnTeNt-TyPe", container.type(), "ACCEPT", "*/*")
                .POST(BodyPublishers.ofByteArray(container.body())));
    Check.expect(answer.isSuccess(), answer.shown());
    container.expectSame(answer);
    return answer.status() + ", the same answer";
  }

  /// The JDK's client adds no type of its own.
  private static String noContentType(Container container) throws Exception {
    if (!container.takesJson()) {
      throw new Check.NotAsked("needs a model that takes application/json");
    }
    var answer = container.post("/invocations", container.body());
    Check.expect(answer.isSuccess(), answer.shown());
    return answer.status() + ", read as JSON";
  }

  private static String charset(Container container) throws Exception {
    if (!container.takesJson()) {
      throw new Check.NotAsked("needs a model that takes application/json");
    }
    var answer =
        container.post(
            "/invocations", container.body(), "Content-Type", "application/json; charset=utf-8");
    Check.expect(answer.isSuccess(), answer.shown());
    return answer.status() + ", read as JSON";
  }

  private static String noAccept(Container container) throws Exception {
    var answer = container.invoke();
    Check.expect(answer.isSuccess(), answer.shown());
    if (!is(answer, "application/json")) {
      throw new Check.NotAsked(
          "its default may be set to what it answers: " + answer.header("Content-Type"));
    }
    return answer.header("Content-Type");
  }

  private static String anything(Container container) throws Exception {
    var answer = container.invoke("Accept", "*/*");
    Check.expect(answer.isSuccess(), answer.shown());
    var none = container.invoke();
    Check.expect(
        answer.header("Content-Type").equals(none.header("Content-Type")),
        answer.header("Content-Type") + ", without Accept " + none.header("Content-Type"));
    return answer.header("Content-Type");
  }

  private static String theFirstThatItCanMake(Container container) throws Exception {
    needsCsv(container);
    var answer = container.invoke("Accept", "image/png, text/csv");
    Check.expect(
        answer.isSuccess() && is(answer, "text/csv"),
        answer.status() + " " + answer.header("Content-Type"));
    return answer.header("Content-Type");
  }

  private static String quality(Container container) throws Exception {
    needsCsv(container);
    var answer = container.invoke("Accept", "text/csv;q=0.1, application/json");
    Check.expect(
        answer.isSuccess() && is(answer, "application/json"),
        answer.status() + " " + answer.header("Content-Type"));
    return answer.header("Content-Type");
  }

  private static void needsCsv(Container container) throws Exception {
    var answer = container.invoke("Accept", "text/csv");
    if (!answer.isSuccess() || !is(answer, "text/csv")) {
      throw new Check.NotAsked("needs a model that answers text/csv");
    }
  }

  private static String unknownAccept(Container container) throws Exception {
    var answer = container.invoke("Accept", "application/x-unknown");
    Check.expect(answer, 406);
    answer.json();
    return "406 with JSON";
  }

  private static String unknownContentType(Container container) throws Exception {
    var answer =
        container.post("/invocations", container.body(), "Content-Type", "application/x-unknown");
    Check.expect(answer, 415);
    answer.json();
    return "415 with JSON";
  }

  /// Whether hooks see them can't be told from outside.
  private static String customAttributes(Container container) throws Exception {
    var longest = "a=1,b=" + "2".repeat(1018);
    var answer = container.invoke("X-Amzn-SageMaker-Custom-Attributes", longest);
    Check.expect(answer.isSuccess(), answer.shown());
    var back = answer.header("X-Amzn-SageMaker-Custom-Attributes");
    Check.expect(back.isEmpty() || !back.equals(longest), "they are echoed");
    return answer.status() + ", not echoed";
  }

  private static boolean is(Container.Answer answer, String type) {
    return answer.header("Content-Type").split(";")[0].strip().equalsIgnoreCase(type);
  }
}
