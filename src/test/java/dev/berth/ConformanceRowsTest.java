package dev.berth;

import static org.assertj.core.api.Assertions.assertThat;

import dev.berth.testing.ConformanceKit;
import dev.berth.testing.SmallServer;
import dev.berth.testing.SmallServer.Asked;
import dev.berth.testing.SmallServer.Handler;
import dev.berth.testing.SmallServer.Manner;
import dev.berth.testing.SmallServer.Reply;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentSkipListSet;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Semaphore;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Collector;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/// What the conformance kit says of small servers that do one thing right or wrong each.
@Tag("slow")
class ConformanceRowsTest {

    private static final String BODY = "{\"x\": [1, 2]}";

    private static final String PREDICTION = "{\"score\": 0.5}";

    @TempDir
    private static Path directory;

    private static ConformanceKit kit;
    private static String body;

    @BeforeAll
    static void compile() throws Exception {
        kit = new ConformanceKit(Files.createDirectory(directory.resolve("classes")));
        body = file("body.json", BODY);
    }

    @AfterAll
    static void close() throws Exception {
        kit.close();
    }

    // Rows that must not hold.

    @Test
    void anAnswerThatEndsInANewlineMakesABlankLine() throws Exception {
        var lines = file("one.csv", "1\n2\n");
        var arguments = new String[] {"--lines", lines, "--lines-type", "text/csv"};
        var ends = run(serves(asked -> csv("0.1\n")), "BAT-10", arguments);
        assertThat(ends.row("BAT-10")).startsWith("MISSED an answer that ends with a newline");
        var plain = run(serves(asked -> csv("0.1")), "BAT-10", arguments);
        assertThat(plain.row("BAT-10")).isEqualTo("holds an answer ends without a newline");
    }

    @Test
    void aServerThatClosesEveryConnectionKeepsNone() throws Exception {
        for (var manner : List.of(Manner.CLOSES_EACH, Manner.CLOSES_SILENTLY, Manner.SPEAKS_HTTP_1_0)) {
            var run = runSample(serves(manner), "INV-14,PING-11,INV-04");
            assertThat(run.row("INV-14")).as(manner.toString()).startsWith("MISSED");
            assertThat(run.row("PING-11")).as(manner.toString()).startsWith("MISSED");
            assertThat(run.row("INV-04")).as(manner.toString()).isEqualTo("holds 200");
        }
        var kept = runSample(serves(model()), "INV-14,PING-11");
        assertThat(kept.row("INV-14")).isEqualTo("holds 1000 times 2xx on one connection");
        assertThat(kept.row("PING-11")).isEqualTo("holds 3 answers on one connection");
    }

    @Test
    void withoutModelsNothingIsSaidOfUnknownOnes() throws Exception {
        var rows = List.of("MME-05", "MME-10", "MME-12", "MME-14");
        var run = runSample(serves(model()), String.join(",", rows), "--model-url", "/m");
        for (var row : rows) {
            assertThat(run.row(row)).startsWith("MISSED POST /models: 404");
        }
        var models = runSample(serves(model(), models()), String.join(",", rows), "--model-url", "/m");
        for (var row : rows) {
            assertThat(models.row(row)).isEqualTo("holds 404");
        }
    }

    @Test
    void aBodyThatAlwaysFailsTellsNothingMore() throws Exception {
        var run = runSample(
                serves(asked -> Reply.json(400, "{\"error\": \"no\"}")),
                "INV-01,RUN-08,PING-06,BAT-17,INV-04,INV-06,INV-13,INV-14,INV-15,HDR-04,HDR-08");
        assertThat(run.row("INV-01")).isEqualTo("MISSED 400 {\"error\": \"no\"}");
        assertThat(run.out()).contains("holds: 0, missed: 1, not asked: 10");
        assertThat(run.row("RUN-08"))
                .isEqualTo("not asked the request of --body is answered with 400 {\"error\": \"no\"}");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "{\"error\": \"x\\n\\tat com.foo.Bar.baz(Bar.java:12)\\n\"}",
                "java.lang.IllegalStateException: x\n\tat com.foo.Bar.baz(Unknown Source)\n",
                "{\"detail\": \"boom\\n  File \\\"/opt/secret/app.py\\\", line 3, in predict\\n key=AKIA\"}",
                "Traceback (most recent call last): no",
                "<pre>SyntaxError: x<br> &nbsp; at parse (/srv/node_modules/body-parser/json.js:92:19)</pre>",
                "{\"m\": \"Cannot invoke \\\"Object.toString()\\\" because \\\"x\\\" is null\"}",
                "{\"m\": \"'NoneType' object is not subscriptable\"}"
            })
    void anErrorThatShowsTheServersInsidesIsNone(String error) throws Exception {
        var run = runSample(
                serves(asked -> asked.body().equals(BODY) ? prediction() : Reply.json(400, error)), "ERR-01,INV-11");
        assertThat(run.row("ERR-01")).startsWith("MISSED 400 with ");
        assertThat(run.row("INV-11")).startsWith("MISSED 400 with ");
    }

    @Test
    void aPlainErrorHolds() throws Exception {
        var run = runSample(serves(model()), "ERR-01,INV-11");
        assertThat(run.row("ERR-01")).startsWith("holds 400");
        assertThat(run.row("INV-11")).startsWith("holds 400");
    }

    @Test
    void whereAcceptIsIgnoredNothingIsNegotiated() throws Exception {
        var run = runSample(serves(asked -> csv("0.5")), "HDR-03,HDR-06,HDR-07");
        assertThat(run.row("HDR-03")).startsWith("not asked its default may be set");
        assertThat(run.row("HDR-06")).startsWith("not asked needs a model that answers text/csv and");
        assertThat(run.row("HDR-07")).startsWith("not asked needs a model that answers text/csv and");
    }

    @Test
    void aTypeThatIsNegotiatedWronglyIsShownWithItsBody() throws Exception {
        var run = runSample(
                serves(asked -> switch (asked.header("Accept")) {
                    case "text/csv" -> csv("0.5");
                    case "image/png, text/csv" -> new Reply(500, "", "boom");
                    default -> prediction();
                }),
                "HDR-06,HDR-07");
        assertThat(run.row("HDR-06")).isEqualTo("MISSED 500 boom");
        assertThat(run.row("HDR-07")).isEqualTo("holds application/json");
    }

    @Test
    void answersInAnotherOrderAreFoundWithoutJson() throws Exception {
        var lines = file("three.csv", "1\n2\n3\n");
        var arguments = new String[] {"--lines", lines, "--lines-type", "text/csv"};
        var reversed = run(serves(asked -> csv(scores(asked.body(), true))), "BAT-07", arguments);
        assertThat(reversed.row("BAT-07")).startsWith("MISSED line 1 is not the answer to record 1");
        var right = run(serves(asked -> csv(scores(asked.body(), false))), "BAT", arguments);
        assertThat(right.row("BAT-07")).startsWith("holds 3 predictions");
        assertThat(right.row("BAT-09")).startsWith("not asked needs --lines FILE of --lines-type");
        assertThat(right.row("BAT-15")).startsWith("holds 8 at once");

        // One for each record and one again; then all at once.
        var count = new AtomicInteger();
        var mixed = run(
                serves(asked -> csv(
                        scores(count.incrementAndGet() > 4 ? "3" : asked.body().strip(), false))),
                "BAT-15",
                arguments);
        assertThat(mixed.row("BAT-15")).startsWith("MISSED the answer of another request: 200 0.3");
    }

    @Test
    void linesThatAreNoJsonAreNoJsonLines() throws Exception {
        var lines = file("three.jsonl", "1\n2\n3\n");
        var text = run(
                serves(asked -> csv(asked.body().lines().map(x -> "p" + x).collect(joined()))),
                "BAT-09",
                "--lines",
                lines);
        assertThat(text.row("BAT-09")).isEqualTo("MISSED a line that is no JSON: p1");
        var reversed = run(serves(asked -> csv(scores(asked.body(), true))), "BAT-09", "--lines", lines);
        assertThat(reversed.row("BAT-09")).startsWith("MISSED line 1 is not the answer to record 1");
        var same = run(serves(asked -> csv(asked.body().replaceAll("\\d", "7"))), "BAT", "--lines", lines);
        assertThat(same.row("BAT-07")).endsWith("all answers are alike, so their order does not show");
    }

    @Test
    void aConnectionEndsBehind413() throws Exception {
        var open = runSample(serves(Manner.STAYS_OPEN_BEHIND_413), "INV-08", quick());
        assertThat(open.row("INV-08")).isEqualTo("MISSED 413, but the connection stays open");
        var closed = runSample(serves(Manner.REFUSES_LARGE_BODIES), "INV-08");
        assertThat(closed.row("INV-08")).startsWith("holds 100 GB announced: 413");
        var waits = runSample(serves(model()), "INV-08", "--patience", "0.1", "--timeout", "100000");
        assertThat(waits.row("INV-08")).isEqualTo("MISSED 100 GB announced: it waits for them");
    }

    @Test
    void aBodyThatIsTooLongIsOfTheModelsType() throws Exception {
        var types = new ConcurrentSkipListSet<String>();
        var server = new SmallServer(Manner.STAYS_OPEN_BEHIND_413, asked -> {
            types.add(asked.header("Content-Type"));
            return asked.path().equals("/ping") ? new Reply(200, "", "") : csv("1");
        });
        runSample(server, "INV-08", "--type", "text/csv", "--patience", "0.1");
        assertThat(types).doesNotContain("application/json");
    }

    @Test
    void metricsAreSamplesOrNone() throws Exception {
        var text = new String[] {""};
        var server = serves(asked -> prediction(), asked -> new Reply(200, "text/plain", text[0]));
        for (var wrong : List.of("hello world", "a 1\nhello world\n", "{\"a\": 1}")) {
            text[0] = wrong;
            assertThat(runOpen(server, "OBS-03").row("OBS-03")).startsWith("MISSED 200, but no line");
        }
        text[0] = "# HELP a b\n# TYPE a counter\na{b=\"c d\"} 1.5e3 1700000000\nb +Inf\n";
        assertThat(runOpen(server, "OBS-03").row("OBS-03")).startsWith("holds 200 in Prometheus's");
        text[0] = "";
        assertThat(runOpen(server, "OBS-03").row("OBS-03")).endsWith("without a metric yet");
        server.close();
        var everything = run(new SmallServer(Manner.KEEPS_CONNECTIONS, asked -> prediction()), "OBS-03");
        assertThat(everything.row("OBS-03")).isEqualTo("not asked it answers any path with 2xx");
    }

    @Test
    void whereEverythingIs200ThereAreNoErrors() throws Exception {
        var run = runSample(serves(asked -> prediction()), "ERR-03,HDR-01");
        assertThat(run.row("ERR-03")).startsWith("not asked it has no errors");
        assertThat(run.row("HDR-01")).startsWith("not asked it answers what is no JSON too");
        var right = runSample(serves(model()), "ERR-03,HDR-01");
        assertThat(right.row("ERR-03")).isEqualTo("holds 200 after 1000 errors");
        assertThat(right.row("HDR-01")).isEqualTo("holds 200, read as JSON");
    }

    /// As where one worker of several is lost.
    @Test
    void morePingsThanOneAreAskedLater() throws Exception {
        var pings = new AtomicInteger();
        var server = new SmallServer(
                Manner.KEEPS_CONNECTIONS,
                asked -> asked.path().equals("/ping")
                        ? new Reply(pings.incrementAndGet() % 7 == 0 ? 503 : 200, "", "")
                        : model().answer(asked));
        var run = runSample(server, "ERR-03,PING-10");
        assertThat(run.row("ERR-03")).isEqualTo("MISSED then GET /ping is 503");
        assertThat(run.row("PING-10")).isEqualTo("MISSED then GET /ping is 503");
    }

    @Test
    void aRefusalOfTheBodyIsNoneOfTheSession() throws Exception {
        var run = runSample(serves(model()), "SES");
        assertThat(run.row("SES-06")).isEqualTo("MISSED the header is ignored: 200 " + PREDICTION);
        assertThat(run.row("SES-01")).isEqualTo("not asked it has no sessions: 400");

        var refuses =
                serves(asked -> asked.header("X-Amzn-SageMaker-Session-Id").isEmpty()
                        ? model().answer(asked)
                        : Reply.json(400, "{\"error\": \"no sessions\"}"));
        assertThat(runSample(refuses, "SES-06").row("SES-06")).isEqualTo("holds 400");

        var ofCsv = runSample(serves(asked -> csv("1")), "SES", "--type", "text/csv");
        assertThat(ofCsv.out()).contains("holds: 0, missed: 0, not asked: 6");
    }

    @Test
    void aServerThatIgnoresTheHeaderHasNoSessions() throws Exception {
        var run = runSample(serves(asked -> prediction()), "SES-01,SES-02,SES-04,SES-05,SES-07");
        assertThat(run.out()).contains("holds: 0, missed: 0, not asked: 5");
    }

    @Test
    void aBodyIsHeldBackUntilItIsAskedFor() throws Exception {
        var never = runSample(serves(Manner.NEVER_SAYS_100), "INV-15", quick());
        assertThat(never.row("INV-15")).isEqualTo("MISSED no 100; with the body 200 " + PREDICTION);
        var says = runSample(serves(model()), "INV-15", "--timeout", "100000");
        assertThat(says.row("INV-15")).isEqualTo("holds 100, then 200");
    }

    @Test
    void textInAnErrorComesBackAsItWasSent() throws Exception {
        var damaged = new String("日本語".getBytes(StandardCharsets.UTF_8), StandardCharsets.ISO_8859_1);
        assertThat(errorIn("application/json; charset=utf-8", "{\"m\": \"" + damaged + "\"}"))
                .startsWith("MISSED what was sent comes back damaged");
        assertThat(errorIn("application/json; charset=utf-8", "{\"m\": \"???\"}"))
                .startsWith("MISSED what was sent comes back damaged");
        assertThat(errorIn("application/json; charset=iso-8859-1", "{\"m\": \"日本語\"}"))
                .isEqualTo("MISSED 400 in UTF-8, declared as application/json; charset=iso-8859-1");
        assertThat(errorIn("application/json", "{\"m\": \"\\u65e5\\u672c\\u8a9e\"}"))
                .startsWith("holds 400 with JSON that has 日本語");
        assertThat(errorIn("application/json; charset=UTF-8", "{\"m\": \"日本語\"}"))
                .startsWith("holds 400 with JSON that has 日本語");
        assertThat(errorIn("application/json", "{\"m\": \"no\"}"))
                .isEqualTo("not asked its messages do not repeat what was sent");
        assertThat(errorIn("text/plain", "日本語")).startsWith("MISSED a body that is not JSON");
    }

    private static String errorIn(String type, String text) throws Exception {
        return runSample(
                        serves(asked -> asked.body().equals(BODY) ? prediction() : new Reply(400, type, text)),
                        "ERR-05")
                .row("ERR-05");
    }

    @Test
    void connectionsThatOnlyTheKernelTakesAreNotAccepted() throws Exception {
        var run = runSample(serves(Manner.TAKES_20_CONNECTIONS), "RUN-08", "--timeout", "1");
        assertThat(run.row("RUN-08")).isEqualTo("MISSED one of 100 connections is not answered");
        var patient = runSample(serves(model()), "RUN-08", "--patience", "100");
        assertThat(patient.row("RUN-08")).startsWith("holds 100 connections");
    }

    // Rows that must not be missed.

    @Test
    void idsAndTimesMayDiffer() throws Exception {
        var count = new AtomicInteger();
        var run = runSample(
                serves(asked -> asked.body().equals(BODY)
                        ? Reply.json(
                                200,
                                "{\"id\": \"%d\", \"created\": %d, \"score\": 0.5}"
                                        .formatted(count.incrementAndGet(), System.nanoTime()))
                        : Reply.json(400, "{}")),
                "INV-05,INV-10,BAT-17,HDR-02");
        assertThat(run.row("INV-05")).startsWith("holds the same answer with content-type");
        assertThat(run.row("INV-10")).startsWith("holds 200, the same answer");
        assertThat(run.row("BAT-17")).isEqualTo("holds three times the same answer, but for .id");
        assertThat(run.row("HDR-02")).startsWith("holds");

        var random = runSample(serves(asked -> csv(String.valueOf(count.incrementAndGet()))), "BAT-17,INV-10");
        assertThat(random.row("BAT-17")).startsWith("MISSED another answer");
        assertThat(random.row("INV-10")).startsWith("not asked its answers to one request differ");
    }

    @Test
    void anAcceptThatIsLostShows() throws Exception {
        Handler negotiates = asked -> asked.header("Accept").equals("text/csv") ? csv("0.5") : prediction();
        var right = runSample(serves(negotiates), "INV-05");
        assertThat(right.row("INV-05"))
                .isEqualTo("holds the same answers, with content-type and with ACCEPT: text/csv");
        var loses = runSample(
                serves(asked -> "text/csv".equals(asked.headers().get("Accept")) ? csv("0.5") : prediction()),
                "INV-05");
        assertThat(loses.row("INV-05")).startsWith("MISSED ACCEPT: text/csv is lost: 200");
        var losesType = runSample(
                serves(asked -> asked.headers().containsKey("Content-Type") ? prediction() : Reply.json(415, "{}")),
                "INV-05");
        assertThat(losesType.row("INV-05")).isEqualTo("MISSED content-type: 415 {}");
    }

    @Test
    void whatAServerThatAnswersAnyPathOffersIsNotAsked() throws Exception {
        var run = runSample(
                new SmallServer(Manner.KEEPS_CONNECTIONS, asked -> prediction()), "OAI-01,ADP-01,BAT-01,BAT-02");
        assertThat(run.out()).contains("holds: 0, missed: 0, not asked: 4");
        var without = runSample(
                new SmallServer(
                        Manner.KEEPS_CONNECTIONS,
                        asked -> asked.path().equals("/adapters") ? Reply.json(400, "{}") : model().answer(asked)),
                "ADP-01");
        assertThat(without.row("ADP-01")).isEqualTo("not asked it does not offer adapters: 400");
    }

    /// A connection that was kept may be gone when the next request is sent on it.
    @Test
    void connectionsThatCloseSilentlyFailNoRow() throws Exception {
        for (var manner : List.of(Manner.CLOSES_SILENTLY, Manner.SPEAKS_HTTP_1_0)) {
            var run = runSample(
                    serves(manner),
                    "PING-01,PING-07,PING-06,INV-01,INV-06,INV-10,INV-13,ERR-01,ERR-03,SES-01,HDR,BAT-17");
            assertThat(run.out().lines().filter(line -> line.contains("MISSED")).toList())
                    .as(manner.toString())
                    .allMatch(line -> line.matches("HDR-0[89] .*"));
        }
    }

    @Test
    void aQueueOf100IsFilled() throws Exception {
        var room = new Semaphore(100);
        var asked = new AtomicInteger();
        var refused = new CountDownLatch(1);
        var server = serves(request -> {
            if (!room.tryAcquire()) {
                refused.countDown();
                return Reply.json(503, "{}");
            }
            // After the sample itself and the first 64.
            if (asked.incrementAndGet() > 65) {
                refused.await();
            }
            room.release();
            return prediction();
        });
        var run = runSample(server, "INV-13");
        assertThat(run.row("INV-13")).matches("holds 256 at once: \\d+ answered, \\d+ refused .*");
    }

    // Models.

    @Test
    void aSingleModelsRowIsNotAskedOfMany() throws Exception {
        var many = runSample(serves(model(), models()), "MME-21", "--model-url", "/m");
        assertThat(many.row("MME-21")).startsWith("not asked it has many models");
        assertThat(runSample(serves(model()), "MME-21").row("MME-21")).isEqualTo("holds 404");
    }

    @Test
    void anUnloadThatFailsDoesNotHideWhy() throws Exception {
        var server = serves(
                asked -> prediction(),
                asked -> asked.method().equals("POST")
                        ? Reply.json(200, "{}")
                        : Reply.json(500, "{\"of\": \"" + asked.method() + "\"}"));
        var run = runSample(server, "MME-09", "--model-url", "/m");
        assertThat(run.row("MME-09")).isEqualTo("MISSED 500 {\"of\": \"GET\"}");
    }

    // Servers.

    /// Answers `{"x": …}` and refuses all else, without a word of sessions.
    private static Handler model() {
        return asked -> {
            if (asked.header("Accept").equals("application/x-unknown")) {
                return Reply.json(200, PREDICTION);
            }
            return asked.body().strip().equals(BODY) ? prediction() : Reply.json(400, "{\"error\": \"expected x\"}");
        };
    }

    /// Loads a model of any name from `/m`.
    private static Handler models() {
        var loaded = ConcurrentHashMap.<String>newKeySet();
        return asked -> models(asked, loaded);
    }

    private static Reply models(Asked asked, Set<String> loaded) {
        var name = asked.path().split("/").length > 2 ? asked.path().split("/")[2] : "";
        if (asked.method().equals("POST") && asked.path().equals("/models")) {
            if (!asked.body().contains("\"/m\"")) {
                return Reply.json(404, "{}");
            }
            loaded.add(asked.body().replaceAll(".*\"model_name\":\"([^\"]*)\".*", "$1"));
            return Reply.json(200, "{}");
        }
        boolean known = loaded.contains(name);
        if (asked.method().equals("DELETE")) {
            known = loaded.remove(name);
        }
        return Reply.json(known ? 200 : 404, "{}");
    }

    private static SmallServer serves(Manner manner) throws Exception {
        return new SmallServer(manner, routes(model(), asked -> Reply.json(404, "{}")));
    }

    private static SmallServer serves(Handler invocations) throws Exception {
        return serves(invocations, asked -> Reply.json(404, "{}"));
    }

    private static SmallServer serves(Handler invocations, Handler others) throws Exception {
        return new SmallServer(Manner.KEEPS_CONNECTIONS, routes(invocations, others));
    }

    /// @param others what any other path is answered with, but for one that nobody has
    private static Handler routes(Handler invocations, Handler others) {
        return asked -> {
            if (asked.path().equals("/ping")) {
                return new Reply(200, "", "");
            }
            if (asked.path().equals("/invocations") && asked.method().equals("POST")) {
                return invocations.answer(asked);
            }
            return asked.path().startsWith("/no-such") ? Reply.json(404, "{}") : others.answer(asked);
        };
    }

    private static Reply prediction() {
        return Reply.json(200, PREDICTION);
    }

    private static Reply csv(String text) {
        return new Reply(200, "text/csv", text);
    }

    private static String scores(String records, boolean reversed) {
        var lines = records.lines()
                .map(String::strip)
                .filter(line -> !line.isEmpty())
                .toList();
        return IntStream.range(0, lines.size())
                .mapToObj(i -> "0." + lines.get(reversed ? lines.size() - 1 - i : i))
                .collect(joined());
    }

    private static Collector<CharSequence, ?, String> joined() {
        return Collectors.joining("\n");
    }

    private static String[] quick() {
        return new String[] {"--patience", "0.1"};
    }

    private static ConformanceKit.Run runSample(SmallServer server, String rows, String... more) throws Exception {
        return run(
                server,
                rows,
                Stream.concat(Stream.of("--body", body), Arrays.stream(more)).toArray(String[]::new));
    }

    private static ConformanceKit.Run run(SmallServer server, String rows, String... more) throws Exception {
        try (server) {
            return runOpen(server, rows, more);
        }
    }

    private static ConformanceKit.Run runOpen(SmallServer server, String rows, String... more) throws Exception {
        return kit.run(Stream.concat(Stream.of(server.url(), "--only", rows), Arrays.stream(more))
                .toArray(String[]::new));
    }

    private static String file(String name, String text) throws Exception {
        return Files.writeString(directory.resolve(name), text).toString();
    }
}
