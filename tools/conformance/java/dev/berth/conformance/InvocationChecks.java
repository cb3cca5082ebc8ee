package dev.berth.conformance;

import java.io.IOException;
import java.net.SocketTimeoutException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.regex.Pattern;

/// `POST /invocations`: bodies of all sizes, connections, errors.
final class InvocationChecks {

    private static final byte[] NO_JSON = "{\"a\": [1, 2".getBytes(StandardCharsets.US_ASCII);

    /// More than twice what servers let wait by default, such as the 100 of several.
    private static final List<Integer> WAVES = List.of(64, 256);

    /// A name of a metric, its labels, its value, and perhaps its time.
    private static final Pattern METRIC = Pattern.compile("[a-zA-Z_:][a-zA-Z0-9_:]*(\\{.*})?[ \\t]+"
            + "([+-]?(\\d+\\.?\\d*|\\.\\d+)([eE][+-]?\\d+)?|[+-]?Inf|NaN)"
            + "([ \\t]+-?[\\d.]+)?([ \\t]+# .*)?[ \\t]*");

    private InvocationChecks() {}

    static Map<String, Check> all() {
        return Map.ofEntries(
                Map.entry("INV-01", InvocationChecks::aValidRequest),
                Map.entry("INV-02", InvocationChecks::get),
                Map.entry("INV-03", InvocationChecks::anUnknownPath),
                Map.entry("INV-06", container -> large(container, 6_291_456)),
                Map.entry("INV-07", container -> large(container, 25_000_000) + "; " + large(container, 25 << 20)),
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
        var answer = container.plain();
        Check.expect(answer.isSuccess(), answer.shown());
        Check.expect(!answer.type().isEmpty(), answer.shownType());
        return answer.shownType();
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
        Check.expect(answer.body().length <= Container.LONGEST_MESSAGE, "404 with " + answer.body().length + " bytes");
        return "404 with JSON";
    }

    /// White space behind JSON changes nothing but its size.
    private static String large(Container container, int size) throws Exception {
        container.needsJson();
        var body = Arrays.copyOf(container.body(), size);
        Arrays.fill(body, container.body().length, size, (byte) ' ');
        var answer = container.post("/invocations", body, "Content-Type", container.type());
        Check.expect(answer.isSuccess(), "%,d bytes: %s".formatted(size, answer.shown()));
        return "%,d bytes: %d".formatted(size, answer.status());
    }

    /// The server cannot tell where the next request begins, so the connection has to end.
    private static String beyondTheLimit(Container container) throws Exception {
        var announced = Request.post("/invocations", new byte[0], "Content-Type", container.type())
                .with("Content-Length", "100000000000");
        try (var connection = container.client().connect()) {
            Answer answer;
            try {
                connection.write(container.client().head(announced));
                answer = connection.read(container.limit(5000), "POST");
            } catch (SocketTimeoutException e) {
                throw new Check.Missed("100 GB announced: it waits for them");
            } catch (IOException e) {
                throw new Check.Missed("the connection broke without an answer: " + e.getMessage());
            }
            Check.expect(answer.status() == 413, "100 GB announced: " + answer.shown());
            Check.expect(connection.closesWithin(container.limit(10_000)), "413, but the connection stays open");
        }
        container.expectHealth();
        return "100 GB announced: 413 before they are sent, and the connection closes";
    }

    private static String chunked(Container container) throws Exception {
        var answer = container.send(container.invocation().inChunks());
        Check.expect(answer.isSuccess(), answer.shown());
        container.expectSame(answer);
        return answer.status() + ", the same answer as with a length";
    }

    private static String nothing(Container container) throws Exception {
        var answer = container.post("/invocations", new byte[0], "Content-Type", container.type());
        Check.expect(answer, 204, 400);
        ErrorText.expectPlain(answer);
        return answer.shown();
    }

    private static String moreThanItCan(Container container) throws Exception {
        var request = container.invocation();
        for (int callers : WAVES) {
            var all = new ArrayList<CompletableFuture<Answer>>();
            for (int i = 0; i < callers; i++) {
                all.add(container.sendAsync(request));
            }
            Check.expect(container.get("/ping"), 200);
            int refused = 0;
            for (var one : all) {
                var answer = one.get();
                boolean isRefused = answer.status() == 503 || answer.status() == 429;
                Check.expect(answer.isSuccess() || isRefused, answer.shown());
                refused += isRefused ? 1 : 0;
            }
            if (refused > 0) {
                return "%d at once: %d answered, %d refused".formatted(callers, callers - refused, refused);
            }
        }
        return WAVES.get(WAVES.size() - 1) + " at once: all answered";
    }

    private static String oneConnection(Container container) throws Exception {
        var request = container.invocation();
        try (var connection = container.client().connect()) {
            for (int i = 1; i <= 1000; i++) {
                Answer answer;
                try {
                    answer = container.client().exchange(connection, request);
                } catch (SocketTimeoutException e) {
                    throw e;
                } catch (IOException e) {
                    throw new Check.Missed("request %d: %s".formatted(i, e.getMessage()));
                }
                Check.expect(answer.isSuccess(), "request %d: %s".formatted(i, answer.shown()));
                Check.expect(connection.isReusable() || i == 1000, "the connection closes behind answer " + i);
            }
        }
        return "1000 times 2xx on one connection";
    }

    /// A client waits for 100 for some time only, and sends the body then.
    private static String expectContinue(Container container) throws Exception {
        var request = container.invocation("Expect", "100-continue", "Connection", "close");
        try (var connection = container.client().connect()) {
            connection.write(container.client().head(request));
            Answer first;
            try {
                first = connection.readAny(container.limit(5000), "POST");
            } catch (SocketTimeoutException e) {
                connection.write(container.body());
                var answer = connection.read(container.timeout(), "POST");
                throw new Check.Missed("no 100; with the body " + answer.shown());
            }
            Check.expect(first.status() == 100, "before the body: " + first.shown());
            connection.write(container.body());
            var answer = connection.read(container.timeout(), "POST");
            Check.expect(answer.isSuccess(), "100, then " + answer.shown());
            return "100, then " + answer.status();
        }
    }

    private static Answer noJson(Container container) throws Exception {
        container.needsJson();
        return container.post("/invocations", NO_JSON, "Content-Type", "application/json");
    }

    private static String malformed(Container container) throws Exception {
        var answer = noJson(container);
        Check.expect(answer.status() >= 400 && answer.status() < 500, answer.shown());
        ErrorText.expectPlain(answer);
        return answer.shown();
    }

    private static String manyErrors(Container container) throws Exception {
        for (int i = 0; i < 1000; i++) {
            var answer = noJson(container);
            if (answer.status() < 400) {
                throw new Check.NotAsked("it has no errors: what is no JSON is answered with " + answer.shown());
            }
        }
        container.expectHealth();
        return "200 after 1000 errors";
    }

    /// Of the errors that could repeat what was sent, the first that does.
    private static String errorsInOtherScripts(Container container) throws Exception {
        container.needsJson();
        var text = "日本語";
        var errors = List.of(
                Request.post(
                        "/invocations",
                        ("{\"" + text + "\": \"ü").getBytes(StandardCharsets.UTF_8),
                        "Content-Type",
                        "application/json"),
                Request.post(
                        "/invocations",
                        ("{\"" + text + "\": \"" + text + "\"}").getBytes(StandardCharsets.UTF_8),
                        "Content-Type",
                        "application/json"),
                Request.get("/%E6%97%A5%E6%9C%AC%E8%AA%9E"));
        var damaged = new String(text.getBytes(StandardCharsets.UTF_8), StandardCharsets.ISO_8859_1);
        for (var error : errors) {
            var answer = container.send(error);
            if (answer.status() < 400) {
                continue;
            }
            var message = String.valueOf(answer.json());
            Check.expect(
                    !message.contains(damaged) && !message.contains("\ufffd") && !message.contains("???"),
                    "what was sent comes back damaged: " + answer.shown());
            if (message.contains(text)) {
                expectCharset(answer);
                return answer.status() + " with JSON that has " + text + " from the request";
            }
        }
        throw new Check.NotAsked("its messages do not repeat what was sent");
    }

    /// JSON that escapes all but ASCII is the same in any charset.
    private static void expectCharset(Answer answer) throws Check.Missed {
        var type = answer.header("Content-Type");
        boolean isAscii = answer.text().chars().allMatch(c -> c < 128);
        Check.expect(
                isAscii
                        || type.replaceAll("[\" ]", "")
                                .toLowerCase(java.util.Locale.ROOT)
                                .contains("charset=utf-8"),
                answer.status() + " in UTF-8, declared as " + (type.isEmpty() ? "nothing" : type));
    }

    private static String metrics(Container container) throws Exception {
        var answer = container.get("/metrics");
        if (answer.status() == 404) {
            throw new Check.NotAsked("it has no metrics: 404");
        }
        Check.expect(answer, 200);
        var lines = answer.text().lines().filter(line -> !line.isBlank()).toList();
        var other = lines.stream()
                .filter(line -> !line.startsWith("#") && !METRIC.matcher(line).matches())
                .findFirst();
        if (other.isPresent()) {
            container.needsPaths();
            throw new Check.Missed("200, but no line of Prometheus's text form: " + other.get());
        }
        if (lines.isEmpty()) {
            // Where nothing has been counted yet, the type says what it is.
            Check.expect(
                    answer.is("text/plain") || answer.is("application/openmetrics-text"),
                    "an empty answer: " + answer.shownType());
            return "200 in Prometheus's text form, without a metric yet";
        }
        return "200 in Prometheus's text form";
    }
}
