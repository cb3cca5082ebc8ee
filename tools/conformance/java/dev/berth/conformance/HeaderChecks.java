package dev.berth.conformance;

import java.nio.charset.StandardCharsets;
import java.util.Map;

/// Types that are negotiated, and headers that pass.
final class HeaderChecks {

    private static final String UNKNOWN = "application/x-unknown";

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

    /// A header that is lost shows where it changes the answer: a type of its own, or a refusal.
    private static String oddCase(Container container) throws Exception {
        var answer = container.send(Request.post("/invocations", container.body(), "content-type", container.type()));
        Check.expect(answer.isSuccess(), "content-type: " + answer.shown());
        container.expectSame(answer);
        var plain = container.plain();
        for (var accept : new String[] {"text/csv", "application/json", UNKNOWN}) {
            var usual = container.invoke("Accept", accept);
            if (usual.status() != plain.status() || !usual.type().equals(plain.type())) {
                var odd = container.send(Request.post(
                        "/invocations", container.body(), "content-type", container.type(), "ACCEPT", accept));
                Check.expect(
                        odd.status() == usual.status() && odd.type().equals(usual.type()),
                        "ACCEPT: %s is lost: %s".formatted(accept, odd.shown()));
                return "the same answers, with content-type and with ACCEPT: " + accept;
            }
        }
        return "the same answer with content-type; no Accept changes its answer";
    }

    /// Where everything is answered, nothing shows how it is read.
    private static String noContentType(Container container) throws Exception {
        container.needsJson();
        var answer = container.post("/invocations", container.body());
        Check.expect(answer.isSuccess(), answer.shown());
        var noJson = container.post("/invocations", "{\"a\": [1, 2".getBytes(StandardCharsets.US_ASCII));
        if (noJson.isSuccess()) {
            throw new Check.NotAsked("it answers what is no JSON too: " + noJson.shown());
        }
        container.expectSame(answer);
        return answer.status() + ", read as JSON";
    }

    private static String charset(Container container) throws Exception {
        container.needsJson();
        var answer =
                container.post("/invocations", container.body(), "Content-Type", "application/json; charset=utf-8");
        Check.expect(answer.isSuccess(), answer.shown());
        container.expectSame(answer);
        return answer.status() + ", read as JSON";
    }

    private static String noAccept(Container container) throws Exception {
        container.body();
        var answer = container.plain();
        if (!answer.is("application/json")) {
            throw new Check.NotAsked("its default may be set to what it answers: " + answer.header("Content-Type"));
        }
        return answer.header("Content-Type");
    }

    private static String anything(Container container) throws Exception {
        var answer = container.invoke("Accept", "*/*");
        Check.expect(answer.isSuccess(), answer.shown());
        var none = container.plain();
        Check.expect(
                answer.header("Content-Type").equals(none.header("Content-Type")),
                answer.shownType() + ", without Accept " + none.shownType());
        return answer.header("Content-Type");
    }

    private static String theFirstThatItCanMake(Container container) throws Exception {
        needsCsvAndJson(container);
        return expectType(container.invoke("Accept", "image/png, text/csv"), "text/csv");
    }

    private static String quality(Container container) throws Exception {
        needsCsvAndJson(container);
        return expectType(container.invoke("Accept", "text/csv;q=0.1, application/json"), "application/json");
    }

    private static String expectType(Answer answer, String type) throws Check.Missed {
        Check.expect(answer.isSuccess(), answer.shown());
        Check.expect(answer.is(type), answer.shownType());
        return answer.header("Content-Type");
    }

    private static void needsCsvAndJson(Container container) throws Exception {
        for (var type : new String[] {"text/csv", "application/json"}) {
            var answer = container.invoke("Accept", type);
            if (!answer.isSuccess() || !answer.is(type)) {
                throw new Check.NotAsked("needs a model that answers text/csv and application/json, as Accept says");
            }
        }
    }

    private static String unknownAccept(Container container) throws Exception {
        var answer = container.invoke("Accept", UNKNOWN);
        Check.expect(answer, 406);
        answer.json();
        return "406 with JSON";
    }

    private static String unknownContentType(Container container) throws Exception {
        var answer = container.post("/invocations", container.body(), "Content-Type", UNKNOWN);
        Check.expect(answer, 415);
        answer.json();
        return "415 with JSON";
    }

    /// Whether hooks see them can't be told from outside.
    private static String customAttributes(Container container) throws Exception {
        var longest = "a=1,b=" + "2".repeat(1018);
        var answer = container.invoke("X-Amzn-SageMaker-Custom-Attributes", longest);
        Check.expect(answer.isSuccess(), answer.shown());
        Check.expect(!answer.header("X-Amzn-SageMaker-Custom-Attributes").equals(longest), "they are echoed");
        return answer.status() + ", not echoed";
    }
}
