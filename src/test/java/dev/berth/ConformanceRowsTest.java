package dev.berth;

import static org.assertj.core.api.Assertions.assertThat;

import dev.berth.testing.ConformanceKit;
import dev.berth.testing.SmallServer;
import dev.berth.testing.SmallServer.Asked;
import dev.berth.testing.SmallServer.Handler;
import dev.berth.testing.SmallServer.Manner;
import dev.berth.testing.SmallServer.Reply;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
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
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/// What the conformance kit says of small servers that do one thing right or wrong each.
@Tag("slow")
class ConformanceRowsTest {

    private static final String BODY = "{\"x\": [1, 2]}";

    private static final String PREDICTION = "{\"score\": 0.5}";

    @TempDir
    private static Path directory;

    @AutoClose
    private static ConformanceKit kit;

    /// Options with the request that servers answer.
    private static List<String> sample;

    @BeforeAll
    static void compile() throws Exception {
        kit = new ConformanceKit(Files.createDirectory(directory.resolve("classes")));
        sample = List.of("--body", file("body.json", BODY));
    }

    // Rows that must not hold.

    @Test
    void anAnswerThatEndsInANewlineMakesABlankLine() throws Exception {
        var lines = List.of("--lines", file("one.csv", "1\n2\n"), "--lines-type", "text/csv");
        assertRows(serves(asked -> csv("0.1\n")), lines, "BAT-10 MISSED an answer that ends with a newline");
        assertRows(serves(asked -> csv("0.1")), lines, "BAT-10 holds an answer ends without a newline");
    }

    @Test
    void aServerThatClosesEveryConnectionKeepsNone() throws Exception {
        for (var manner : List.of(Manner.CLOSES_EACH, Manner.CLOSES_SILENTLY, Manner.SPEAKS_HTTP_1_0)) {
            assertRows(serves(manner), sample, "INV-14 MISSED", "PING-11 MISSED", "INV-04 holds 200");
        }
        assertRows(
                serves(model()),
                sample,
                "INV-14 holds 1000 times 2xx on one connection",
                "PING-11 holds 3 answers on one connection");
    }

    @Test
    void withoutModelsNothingIsSaidOfUnknownOnes() throws Exception {
        var model = with("--model-url", "/m");
        var rows = new String[] {"MME-05", "MME-10", "MME-12", "MME-14"};
        assertRows(serves(model()), model, each("%s MISSED POST /models: 404", rows));
        assertRows(serves(model(), models()), model, each("%s holds 404", rows));
    }

    @Test
    void aBodyThatAlwaysFailsTellsNothingMore() throws Exception {
        var run = run(
                serves(asked -> Reply.json(400, "{\"error\": \"no\"}")),
                sample,
                "INV-01,RUN-08,PING-06,BAT-17,INV-04,INV-06,INV-13,INV-14,INV-15,HDR-04,HDR-08");
        run.assertRows(
                "INV-01 MISSED 400 {\"error\": \"no\"}",
                "RUN-08 not asked the request of --body is answered with 400 {\"error\": \"no\"}");
        assertThat(run.out()).contains("holds: 0, missed: 1, not asked: 10");
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
        assertRows(refusing(Reply.json(400, error)), sample, "ERR-01 MISSED 400 with ", "INV-11 MISSED 400 with ");
    }

    @Test
    void aPlainErrorHolds() throws Exception {
        assertRows(serves(model()), sample, "ERR-01 holds 400", "INV-11 holds 400");
    }

    /// As a small server does it, whose error is no JSON either.
    @Test
    void whatIsMissedIsShownWithWhatIsExpected() throws Exception {
        Handler broken = asked ->
                new Reply(asked.path().equals("/ping") ? 200 : 400, "", "Traceback (most recent call last): no");
        var run = run(new SmallServer(Manner.KEEPS_CONNECTIONS, broken), sample, "PING-01,INV-01,ERR-01,INV-03");
        assertThat(run.exitCode()).isEqualTo(1);
        assertThat(run.out())
                .contains(
                        "PING-01  P0  holds",
                        "INV-01   P0  MISSED     400 Traceback",
                        "expected: 2xx, body, `Content-Type` (DG:",
                        "INV-03   A   MISSED     400",
                        "ERR-01   P   MISSED     400 with a Python traceback: 400 Traceback",
                        "holds: 1, missed: 3, not asked: 0");
    }

    @Test
    void whereAcceptIsIgnoredNothingIsNegotiated() throws Exception {
        assertRows(
                serves(asked -> csv("0.5")),
                sample,
                "HDR-03 not asked its default may be set",
                "HDR-06 not asked needs a model that answers text/csv and",
                "HDR-07 not asked needs a model that answers text/csv and");
    }

    @Test
    void aTypeThatIsNegotiatedWronglyIsShownWithItsBody() throws Exception {
        assertRows(
                serves(asked -> switch (asked.header("Accept")) {
                    case "text/csv" -> csv("0.5");
                    case "image/png, text/csv" -> new Reply(500, "", "boom");
                    default -> prediction();
                }),
                sample,
                "HDR-06 MISSED 500 boom",
                "HDR-07 holds application/json");
    }

    @Test
    void answersInAnotherOrderAreFoundWithoutJson() throws Exception {
        var lines = List.of("--lines", file("three.csv", "1\n2\n3\n"), "--lines-type", "text/csv");
        assertRows(
                serves(asked -> csv(scores(asked.body(), true))),
                lines,
                "BAT-07 MISSED line 1 is not the answer to record 1");
        assertRows(
                serves(asked -> csv(scores(asked.body(), false))),
                lines,
                "BAT-07 holds 3 predictions",
                "BAT-09 not asked needs --lines FILE of --lines-type",
                "BAT-15 holds 8 at once");
        // One for each record and one again; then all at once.
        var count = new AtomicInteger();
        assertRows(
                serves(asked -> csv(
                        scores(count.incrementAndGet() > 4 ? "3" : asked.body().strip(), false))),
                lines,
                "BAT-15 MISSED the answer of another request: 200 0.3");
    }

    @Test
    void linesThatAreNoJsonAreNoJsonLines() throws Exception {
        var lines = List.of("--lines", file("three.jsonl", "1\n2\n3\n"));
        assertRows(
                serves(asked -> csv(asked.body().lines().map(x -> "p" + x).collect(joined()))),
                lines,
                "BAT-09 MISSED a line that is no JSON: p1");
        assertRows(
                serves(asked -> csv(scores(asked.body(), true))),
                lines,
                "BAT-09 MISSED line 1 is not the answer to record 1");
        var same = run(serves(asked -> csv(asked.body().replaceAll("\\d", "7"))), lines, "BAT");
        assertThat(same.row("BAT-07")).endsWith("all answers are alike, so their order does not show");
    }

    @Test
    void aConnectionEndsBehind413() throws Exception {
        assertRows(serves(Manner.STAYS_OPEN_BEHIND_413), quick(), "INV-08 MISSED 413, but the connection stays open");
        assertRows(serves(Manner.REFUSES_LARGE_BODIES), sample, "INV-08 holds 100 GB announced: 413");
        assertRows(
                serves(model()),
                with("--patience", "0.1", "--timeout", "100000"),
                "INV-08 MISSED 100 GB announced: it waits for them");
    }

    @Test
    void aBodyThatIsTooLongIsOfTheModelsType() throws Exception {
        var types = new ConcurrentSkipListSet<String>();
        var server = new SmallServer(Manner.STAYS_OPEN_BEHIND_413, asked -> {
            types.add(asked.header("Content-Type"));
            return asked.path().equals("/ping") ? new Reply(200, "", "") : csv("1");
        });
        run(server, with("--type", "text/csv", "--patience", "0.1"), "INV-08");
        assertThat(types).doesNotContain("application/json");
    }

    @Test
    void metricsAreSamplesOrNone() throws Exception {
        for (var wrong : List.of("hello world", "a 1\nhello world\n", "{\"a\": 1}")) {
            assertRows(measured(wrong), List.of(), "OBS-03 MISSED 200, but no line");
        }
        var samples = "# HELP a b\n# TYPE a counter\na{b=\"c d\"} 1.5e3 1700000000\nb +Inf\n";
        assertRows(measured(samples), List.of(), "OBS-03 holds 200 in Prometheus's");
        assertThat(run(measured(""), List.of(), "OBS-03").row("OBS-03")).endsWith("without a metric yet");
        assertRows(everywhere(), List.of(), "OBS-03 not asked it answers any path with 2xx");
        assertRows(serves(asked -> prediction()), List.of(), "OBS-03 not asked it has no metrics: 404");
    }

    private static SmallServer measured(String metrics) throws Exception {
        return serves(asked -> prediction(), asked -> new Reply(200, "text/plain", metrics));
    }

    @Test
    void whereEverythingIs200ThereAreNoErrors() throws Exception {
        assertRows(
                serves(asked -> prediction()),
                sample,
                "ERR-03 not asked it has no errors",
                "HDR-01 not asked it answers what is no JSON too");
        assertRows(serves(model()), sample, "ERR-03 holds 200 after 1000 errors", "HDR-01 holds 200, read as JSON");
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
        assertRows(server, sample, "ERR-03 MISSED then GET /ping is 503", "PING-10 MISSED then GET /ping is 503");
    }

    @Test
    void aRefusalOfTheBodyIsNoneOfTheSession() throws Exception {
        run(serves(model()), sample, "SES")
                .assertRows(
                        "SES-06 MISSED the header is ignored: 200 " + PREDICTION,
                        "SES-01 not asked it has no sessions: 400");
        assertRows(
                serves(asked -> asked.header("X-Amzn-SageMaker-Session-Id").isEmpty()
                        ? model().answer(asked)
                        : Reply.json(400, "{\"error\": \"no sessions\"}")),
                sample,
                "SES-06 holds 400");
        assertThat(run(serves(asked -> csv("1")), with("--type", "text/csv"), "SES")
                        .out())
                .contains("holds: 0, missed: 0, not asked: 6");
    }

    @Test
    void aServerThatIgnoresTheHeaderHasNoSessions() throws Exception {
        assertRows(
                serves(asked -> prediction()),
                sample,
                "SES-01 not asked it has no sessions: 200 without X-Amzn-SageMaker-Session-Id",
                "SES-02 not asked",
                "SES-04 not asked",
                "SES-05 not asked",
                "SES-07 not asked");
    }

    @Test
    void aBodyIsHeldBackUntilItIsAskedFor() throws Exception {
        assertRows(serves(Manner.NEVER_SAYS_100), quick(), "INV-15 MISSED no 100; with the body 200 " + PREDICTION);
        assertRows(serves(model()), with("--timeout", "100000"), "INV-15 holds 100, then 200");
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', quoteCharacter = '`', textBlock = """
            application/json; charset=utf-8      | {"m": "\u00e6\u0097\u00a5\u00e6\u009c\u00ac\u00e8\u00aa\u009e"} | MISSED what was sent comes back damaged
            application/json; charset=utf-8      | {"m": "???"}      | MISSED what was sent comes back damaged
            application/json; charset=iso-8859-1 | {"m": "日本語"}    | MISSED 400 in UTF-8, declared as application/json; charset=iso-8859-1
            application/json                     | {"m": "\\u65e5\\u672c\\u8a9e"} | holds 400 with JSON that has 日本語
            application/json; charset=UTF-8      | {"m": "日本語"}    | holds 400 with JSON that has 日本語
            application/json                     | {"m": "no"}       | not asked its messages do not repeat what was sent
            text/plain                           | 日本語            | MISSED a body that is not JSON
            """)
    void textInAnErrorComesBackAsItWasSent(String type, String text, String result) throws Exception {
        assertRows(refusing(new Reply(400, type, text)), sample, "ERR-05 " + result);
    }

    @Test
    void connectionsThatOnlyTheKernelTakesAreNotAccepted() throws Exception {
        assertRows(
                serves(Manner.TAKES_20_CONNECTIONS),
                with("--timeout", "1"),
                "RUN-08 MISSED one of 100 connections is not answered");
        assertRows(serves(model()), with("--patience", "100"), "RUN-08 holds 100 connections");
    }

    // Rows that must not be missed.

    @Test
    void idsAndTimesMayDiffer() throws Exception {
        var count = new AtomicInteger();
        assertRows(
                serves(asked -> asked.body().equals(BODY)
                        ? Reply.json(
                                200,
                                "{\"id\": \"%d\", \"created\": %d, \"score\": 0.5}"
                                        .formatted(count.incrementAndGet(), System.nanoTime()))
                        : Reply.json(400, "{}")),
                sample,
                "INV-05 holds the same answer with content-type",
                "INV-10 holds 200, the same answer",
                "BAT-17 holds three times the same answer, but for .id",
                "HDR-02 holds");
        assertRows(
                serves(asked -> csv(String.valueOf(count.incrementAndGet()))),
                sample,
                "BAT-17 MISSED another answer",
                "INV-10 not asked its answers to one request differ");
    }

    @Test
    void anAcceptThatIsLostShows() throws Exception {
        assertRows(
                serves(asked -> asked.header("Accept").equals("text/csv") ? csv("0.5") : prediction()),
                sample,
                "INV-05 holds the same answers, with content-type and with ACCEPT: text/csv");
        assertRows(
                serves(asked -> "text/csv".equals(asked.headers().get("Accept")) ? csv("0.5") : prediction()),
                sample,
                "INV-05 MISSED ACCEPT: text/csv is lost: 200");
        assertRows(
                serves(asked -> asked.headers().containsKey("Content-Type") ? prediction() : Reply.json(415, "{}")),
                sample,
                "INV-05 MISSED content-type: 415 {}");
    }

    @Test
    void whatAServerThatAnswersAnyPathOffersIsNotAsked() throws Exception {
        assertRows(everywhere(), sample, each("%s not asked", "OAI-01", "ADP-01", "BAT-01", "BAT-02"));
        var without = new SmallServer(
                Manner.KEEPS_CONNECTIONS,
                asked -> asked.path().equals("/adapters") ? Reply.json(400, "{}") : model().answer(asked));
        assertRows(without, sample, "ADP-01 not asked it does not offer adapters: 400");
    }

    /// A connection that was kept may be gone when the next request is sent on it.
    @Test
    void connectionsThatCloseSilentlyFailNoRow() throws Exception {
        for (var manner : List.of(Manner.CLOSES_SILENTLY, Manner.SPEAKS_HTTP_1_0)) {
            var run = run(
                    serves(manner),
                    sample,
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
        var run = run(server, sample, "INV-13");
        assertThat(run.row("INV-13")).matches("holds 256 at once: \\d+ answered, \\d+ refused");
    }

    // Models.

    @Test
    void aSingleModelsRowIsNotAskedOfMany() throws Exception {
        assertRows(serves(model(), models()), with("--model-url", "/m"), "MME-21 not asked it has many models");
        assertRows(serves(model()), sample, "MME-21 holds 404");
    }

    @Test
    void anUnloadThatFailsDoesNotHideWhy() throws Exception {
        var server = serves(
                asked -> prediction(),
                asked -> asked.method().equals("POST")
                        ? Reply.json(200, "{}")
                        : Reply.json(500, "{\"of\": \"" + asked.method() + "\"}"));
        assertRows(server, with("--model-url", "/m"), "MME-09 MISSED 500 {\"of\": \"GET\"}");
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

    /// Answers the sample, and refuses all else.
    private static SmallServer refusing(Reply refusal) throws Exception {
        return serves(asked -> asked.body().equals(BODY) ? prediction() : refusal);
    }

    /// Answers on any path.
    private static SmallServer everywhere() throws Exception {
        return new SmallServer(Manner.KEEPS_CONNECTIONS, asked -> prediction());
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

    /// The options of the sample, and more.
    private static List<String> with(String... more) {
        return Stream.concat(sample.stream(), Stream.of(more)).toList();
    }

    private static List<String> quick() {
        return with("--patience", "0.1");
    }

    private static String[] each(String result, String... rows) {
        return Stream.of(rows).map(result::formatted).toArray(String[]::new);
    }

    /// @param rows each the id of one, and how what comes of it begins
    private static void assertRows(SmallServer server, List<String> options, String... rows) throws Exception {
        run(server, options, Stream.of(rows).map(row -> row.split(" ", 2)[0]).collect(Collectors.joining(",")))
                .assertRows(rows);
    }

    private static ConformanceKit.Run run(SmallServer server, List<String> options, String rows) throws Exception {
        try (server) {
            var arguments = new ArrayList<>(List.of(server.url(), "--only", rows));
            arguments.addAll(options);
            return kit.run(arguments.toArray(String[]::new));
        }
    }

    private static String file(String name, String text) throws Exception {
        return Files.writeString(directory.resolve(name), text).toString();
    }
}
