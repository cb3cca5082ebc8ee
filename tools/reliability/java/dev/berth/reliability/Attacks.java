package dev.berth.reliability;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Locale;
import java.util.TreeMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/// Attacks that are aimed at one weakness each, named after the rows of findings that they came
/// from.
final class Attacks {

    /// What is done to a server that innocent clients use at the same time.
    interface Strike {
        void run(Attacks attack) throws Exception;
    }

    /// What kind of server a case can be run against.
    enum Needs {
        ANY_SERVER,
        OWN_SERVER,
        CONTAINER
    }

    /// @param isWatched whether innocents must be answered all the time; otherwise the strike says
    ///   itself what must hold
    /// @param isShort whether it belongs to the short form too
    record Case(String name, Target.Launch launch, boolean isWatched, Needs needs, boolean isShort, Strike strike) {
        boolean runsAt(Target.Place place) {
            return switch (needs) {
                case ANY_SERVER -> !place.isFixed() || launch.model() == Seeds.Model.QA;
                case OWN_SERVER -> !place.isFixed();
                case CONTAINER -> place.image() != null;
            };
        }

        /// One that shows what another shows too, with more of it.
        Case inLongForm() {
            return new Case(name, launch, isWatched, needs, false, strike);
        }

        Case inContainer() {
            return new Case(name, launch, isWatched, Needs.CONTAINER, isShort, strike);
        }
    }

    private static final Duration PATIENCE = Duration.ofSeconds(90);

    /// Longer than the 10 s after which a head that has not ended is 408.
    private static final Duration HELD = Duration.ofSeconds(12);

    private static final Duration LONGEST_STOP = Duration.ofSeconds(25);
    private static final String FORGED = "] ERROR Worker - model-worker-0 ends [";

    private final Target target;
    private final Report.Row row;
    private final Limits limits;
    private final TreeMap<String, Integer> answers = new TreeMap<>();

    /// What may take how long.
    record Limits(Duration ping) {
        /// Whether the machine does nothing else, as in the long form. CI's may.
        boolean isStrict() {
            return ping.toSeconds() <= 1;
        }

        Duration good() {
            return ping.multipliedBy(6);
        }

        /// After which an attack is given up, because the server does nothing any more.
        Duration attack() {
            return ping.multipliedBy(60).plus(Duration.ofSeconds(30));
        }

        Duration stop() {
            return LONGEST_STOP.plus(ping.multipliedBy(5));
        }
    }

    private Attacks(Target target, Report.Row row, Limits limits) {
        this.target = target;
        this.row = row;
        this.limits = limits;
    }

    static void run(Case one, Servers servers, Target.Place place, Limits limits, Report report) throws Exception {
        var row = new Report.Row(one.name);
        if (!one.runsAt(place)) {
            row.note("skipped: it needs " + (one.needs == Needs.CONTAINER ? "--image" : "a server of its own"));
            report.add(row);
            return;
        }
        var start = servers.start(one);
        // Does nothing where another thread has begun it.
        start.run();
        try {
            var attack = new Attacks(start.get(), row, limits);
            if (one.isWatched) {
                attack.watched(one);
            } else {
                one.strike.run(attack);
            }
            row.note("attackers: " + attack.answers);
        } catch (IOException | ExecutionException e) {
            row.missed(e.toString());
        }
        servers.release(one, row.isMet());
        report.add(row);
    }

    /// What a server has taken.
    ///
    /// @param liveMegabytes 0 in the short form, as each collection that is asked for takes a second
    ///   of a busy machine
    private record Held(long liveMegabytes, long threads, int descriptors) {
        /// What it loads and keeps for the first request of a kind is allowed for.
        boolean isAbout(Held before) {
            return liveMegabytes <= before.liveMegabytes + 24
                    && threads <= before.threads + 8
                    && descriptors <= before.descriptors + 16;
        }

        @Override
        public String toString() {
            return "%d MB, %d threads, %d descriptors".formatted(liveMegabytes, threads, descriptors);
        }
    }

    private Held held() {
        return new Held(isStrict() ? target.liveMegabytes() : 0, target.threads(), target.descriptors());
    }

    /// The attackers have left, and the server must have what it had before them.
    private void awaitNoMoreThan(Held before) throws InterruptedException {
        long deadline = System.nanoTime() + PATIENCE.toNanos();
        var after = held();
        while (!after.isAbout(before) && System.nanoTime() < deadline) {
            Thread.sleep(1_000);
            after = held();
        }
        row.note("held before: %s; after: %s".formatted(before, after));
        row.expect("after the attack it holds %s".formatted(after), after.isAbout(before));
    }

    private void watched(Case one) throws Exception {
        try (var watch = Watch.begin(target)) {
            var before = held();
            var strike = new FutureTask<Void>(() -> {
                one.strike.run(this);
                return null;
            });
            Thread.ofVirtual().start(strike);
            try {
                strike.get(limits.attack().toSeconds(), TimeUnit.SECONDS);
                awaitNoMoreThan(before);
                watch.end(row, limits.ping(), limits.good());
            } catch (ExecutionException e) {
                row.missed("an attacker was not answered: " + e.getCause());
                watch.judge(row, limits.ping(), limits.good());
            } catch (TimeoutException e) {
                row.missed("the attackers had no answers after %d s"
                        .formatted(limits.attack().toSeconds()));
                watch.judge(row, limits.ping(), limits.good());
            }
        }
        if (!target.isAlive()) {
            row.died(target.log());
        }
    }

    /// All cases in the order of the rows.
    static List<Case> all() {
        var qa = Target.Launch.of(Seeds.Model.QA);
        var tensors = Target.Launch.of(Seeds.Model.TENSOR);
        var pictures = Target.Launch.of(Seeds.Model.PICTURES);
        var cases = new ArrayList<Case>();

        cases.add(watched("row-01-csv-20-mb", qa.heap("512m"), a -> a.post(1, Bombs.rows(2_000_000))));
        cases.add(watched("row-01-csv-16-mb", qa, a -> a.post(1, Bombs.rows(1_600_000)))
                .inLongForm());
        cases.add(watched("row-01-csv-42-mb", qa.heap("1024m"), a -> a.post(1, Bombs.rows(4_200_000)))
                .inLongForm());
        cases.add(watched("row-01-csv-8-x-2-mb", qa.heap("512m"), a -> a.post(8, Bombs.rows(200_000))));
        cases.add(watched("row-01-csv-3-x-6-mb", qa, a -> a.post(3, Bombs.rows(600_000)))
                .inLongForm());
        cases.add(watched("row-01-many-small-records", qa, a -> {
            a.post(1, Bombs.json("[" + "[],".repeat(3_000_000) + "[]]"));
            a.post(1, Bombs.json("[" + "{},".repeat(3_000_000) + "{}]"));
            a.post(1, Seeds.Payload.of("application/jsonlines", "{}\n".repeat(3_000_000)));
            a.post(1, Seeds.Payload.of("text/csv", ",".repeat(10_000_000)));
            a.post(1, Seeds.Payload.of("text/csv", ",\n".repeat(5_000_000)));
            a.post(
                    4,
                    Bombs.json("{\"inputs\": ["
                            + "{\"question\": \"a\", \"context\": \"b\"},".repeat(50_000)
                            + "{}], \"parameters\": {\"top_k\": 1000}}"));
        }));
        cases.add(watched("row-01-deep-and-long", qa, a -> {
            a.post(2, Bombs.json("[".repeat(10_000_000)));
            a.post(2, Bombs.json("{\"a\":".repeat(2_000_000)));
            a.post(2, Bombs.json("{\"" + "k".repeat(10_000_000) + "\": 1}"));
            a.post(2, Bombs.json(Bombs.collidingKeys(16)));
            a.post(2, Bombs.json("{\"inputs\": " + "9".repeat(1_000_000) + "}"));
            a.post(2, Bombs.json("{\"inputs\": 1e" + "9".repeat(1_000_000) + "}"));
            a.post(2, Bombs.json("{\"inputs\": 0." + "1".repeat(1_000_000) + "}"));
        }));
        cases.add(watched("row-01-letters-that-grow", qa.with("--timeout", "20"), a -> {
            a.post(2, Bombs.question("a", "abcdefgh ".repeat(200_000) + "\\u4e2d"));
            a.post(2, Bombs.question("a", "\ufdfa".repeat(300_000)));
            a.post(2, Bombs.question("\ufdfa".repeat(300_000), "b"));
            a.post(2, Bombs.question("a", "\\ud800".repeat(300_000)));
        }));
        cases.add(watched(
                "row-01-top-k",
                qa,
                a -> a.post(
                        4,
                        Bombs.json("{\"inputs\": ["
                                + String.join(
                                        ",",
                                        Collections.nCopies(
                                                500,
                                                "{\"question\": \"a\", \"context\": \"" + "b c ".repeat(50) + "\"}"))
                                + "], \"parameters\": {\"top_k\": 1000, \"max_answer_len\": 1000}}"))));

        cases.add(watched("row-02-npz-bombs", tensors, a -> a.post(a.isStrict() ? 30 : 4, Bombs.npz(256))));
        cases.add(watched(
                "row-02-npz-bombs-within-the-limit", tensors, a -> a.post(a.isStrict() ? 30 : 10, Bombs.npz(45))));
        cases.add(watched("row-02-npz-others", tensors, a -> {
            int times = a.isStrict() ? 4 : 1;
            a.post(
                    times,
                    new Seeds.Payload(
                            "application/x-npz",
                            Seeds.npz(
                                    IntStream.range(0, 60_000)
                                            .mapToObj(i -> i + ".npy")
                                            .toList(),
                                    Seeds.npy("'<f4'", "(1,)", new byte[4]))));
            a.post(
                    times,
                    new Seeds.Payload(
                            "application/x-npz",
                            Seeds.npz(List.of("x.npy"), Bombs.npz(45).body())));
            var sizes = a.isStrict() ? List.of(0L, 1L, 0x7fffffffL, 0xffffffffL) : List.of(1L);
            for (long size : sizes) {
                a.post(times, Bombs.lyingNpz(size));
            }
        }));
        cases.add(watched("row-02-npy-shapes", tensors, a -> {
            for (var shape : List.of(
                    "(2147483647, 2147483647)",
                    "(0, 1099511627776)",
                    "(-1, 4)",
                    "(1000000000,)",
                    "(" + "1, ".repeat(5_000) + ")",
                    "(" + "65536, ".repeat(64) + ")",
                    "(4000000, 0)",
                    "(" + "9".repeat(60_000) + ",)")) {
                a.post(2, new Seeds.Payload("application/x-npy", Seeds.npy("'<f4'", shape, new byte[16])));
            }
        }));
        cases.add(watched("row-02-gzip-bodies", qa, a -> {
            for (var header : List.of(
                    "Content-Encoding: gzip", "Content-Encoding: gzip, gzip", "Transfer-Encoding: gzip, chunked")) {
                a.send(8, Seeds.request(header + "\r\nContent-Type: application/json\r\n", Bombs.gzip(1 << 28)));
            }
        }));

        cases.add(bare("row-03-a-hook-fills-the-heap", Target.Launch.of(Seeds.Model.FILLER), Attacks::fillTheHeap));
        cases.add(bare("row-03-sigterm-in-a-flood", qa.heap("512m"), a -> {
            a.awaitReady();
            a.inBackground(8, Bombs.rows(2_000_000));
            Thread.sleep(2_000);
            a.expectEnd();
        }));

        cases.add(watched("row-04-two-contexts-200-kb", qa, a -> a.post(2, Bombs.context(100_000)))
                .inLongForm());
        cases.add(watched(
                "row-04-two-contexts-1-mb", qa.with("--timeout", "20"), a -> a.post(2, Bombs.context(500_000))));

        cases.add(watched("row-05-jpeg-of-100-scans", pictures, a -> a.post(4, Bombs.jpegOfScans(4_000))));
        cases.add(watched("row-05-gif-of-few-bytes", pictures, a -> {
            a.post(8, Bombs.gif(4_000));
            a.post(8, Bombs.gif(9_990));
        }));
        cases.add(watched(
                "row-05-60-mixed",
                pictures,
                a -> a.post(20, Bombs.jpegOfScans(4_000), Bombs.gif(4_000), Bombs.png(4_000))));
        // As large as a heap of 400 MB allows.
        cases.add(
                watched("row-05-60-within-the-limits", pictures, a -> a.post(30, Bombs.gif(3_400), Bombs.png(3_400))));

        cases.add(watched("row-06-stalled-uploads", qa.heap("512m"), a -> a.hold(40, Seeds.ascii("""
                        POST /invocations HTTP/1.1\r
                        Host: x\r
                        Content-Type: application/json\r
                        Content-Length: 25000000\r
                        \r
                        {\
                        """))));
        cases.add(watched("row-07-tensor-of-empty-lists", tensors.heap("512m"), a -> {
            a.post(1, Bombs.json("[" + "[],".repeat(6_500_000) + "[]]"));
            a.post(4, Bombs.json("{\"instances\": [" + "[],".repeat(6_500_000) + "[]]}"));
        }));
        cases.add(watched("row-08-impatient-clients", qa, Attacks::overload));
        cases.add(own("row-09-stalled-log", qa.with(Target.Trait.STALLED_LOG), Attacks::askWithoutALog));
        cases.add(own(
                        "row-09-stalled-metrics",
                        qa.with(Target.Trait.STALLED_LOG)
                                .with("--metrics-format", "emf", "--metrics-interval-seconds", "1"),
                        Attacks::askWithoutALog)
                .inLongForm());
        cases.add(own(
                "row-10-half-sent-requests",
                qa.with(Target.Trait.FEW_DESCRIPTORS),
                a -> a.hold(400, Seeds.ascii("POST /invocations HTTP/1.1\r\nHost: x\r\nX-Half"))));
        cases.add(watched("row-11-forged-log-lines", qa, Attacks::forge));
        cases.add(watched("row-12-half-closed-clients", qa, Attacks::halfClose));
        // The image has WebP's decoder unpacked; outside of it that needs a disk.
        cases.add(own("row-13-pictures-on-a-read-only-disk", pictures.with(Target.Trait.READ_ONLY_DISK), a -> {
                    for (var seed : Seeds.all()) {
                        if (seed.type().startsWith("image/")) {
                            a.post(1, seed);
                        }
                    }
                })
                .inContainer());
        cases.add(bare("row-13-sigterm-at-once", qa, Attacks::stopEarly));
        cases.add(watched("row-13-messages", qa, a -> {
            var clamped = "{\"inputs\": {\"question\": \"a\", \"context\": \"b\"}, \"parameters\":"
                    + " {\"doc_stride\": 64, \"max_seq_len\": 32}}";
            var status = a.ask(Bombs.json(clamped)).status();
            a.row.expect(
                    "doc_stride 64 with max_seq_len 32 was answered by %d and no word of it was logged"
                            .formatted(status),
                    status == 400 || a.target.log().contains("doc_stride"));
            a.post(1, Bombs.json("{\"question\": \"" + "a".repeat(30_000_000) + "\"}"));
            a.post(1, Bombs.json("[".repeat(2_000)));
            a.post(1, Bombs.json("{\"inputs\": " + "9".repeat(2_000) + "}"));
        }));
        cases.add(bare("row-13-tokenizer-is-a-fifo", Target.Launch.of(Seeds.Model.FIFO), a -> {
            int code = a.target.exitCode(PATIENCE);
            a.row.expect("a FIFO as tokenizer.json ended it with %d, expected 1".formatted(code), code == 1);
        }));
        cases.add(watched(
                "row-13-20-x-90-mb", qa.heap("512m"), a -> a.post(20, Bombs.question("a", "b".repeat(90_000_000)))));
        cases.add(watched("row-14-unknown-path", qa, a -> {
            try (var wire = a.target.wire(PATIENCE)) {
                var text = a.checked(wire.ask(Seeds.ascii("GET /metric HTTP/1.1\r\nHost: x\r\n\r\n")))
                        .text();
                a.row.expect(
                        "a 404 lists all routes: " + text,
                        !(text.contains("/invocations") && text.contains("/metrics")));
            }
        }));
        cases.add(watched("binary-tensor-lengths", qa, Attacks::misstateLengths));
        cases.addAll(HostileHooks.all());
        cases.addAll(HostileGraphs.all());
        cases.addAll(HostileNames.all());
        return List.copyOf(cases);
    }

    static Case watched(String name, Target.Launch launch, Strike strike) {
        return new Case(name, launch, true, Needs.ANY_SERVER, true, strike);
    }

    static Case own(String name, Target.Launch launch, Strike strike) {
        return new Case(name, launch, true, Needs.OWN_SERVER, true, strike);
    }

    static Case bare(String name, Target.Launch launch, Strike strike) {
        return new Case(name, launch, false, Needs.OWN_SERVER, true, strike);
    }

    void awaitReady() throws Exception {
        while (!target.answersPing()) {
            if (!target.isAlive()) {
                throw new IOException("the server ended before it was ready:\n" + Target.tail(target.log()));
            }
            Thread.sleep(50);
        }
    }

    Target target() {
        return target;
    }

    boolean isStrict() {
        return limits.isStrict();
    }

    Report.Row row() {
        return row;
    }

    /// Sends each payload so many times at once, and waits for all answers.
    void post(int times, Seeds.Payload... payloads) throws Exception {
        for (var future : start(
                times, List.of(payloads).stream().map(Seeds.Payload::request).toList())) {
            future.get();
        }
    }

    void send(int times, byte[] request) throws Exception {
        for (var future : start(times, List.of(request))) {
            future.get();
        }
    }

    private void inBackground(int times, Seeds.Payload payload) {
        start(times, List.of(payload.request()));
    }

    List<Future<?>> start(int times, List<byte[]> requests) {
        var futures = new ArrayList<Future<?>>();
        for (int i = 0; i < times; i++) {
            for (var request : requests) {
                futures.add(start(() -> {
                    try {
                        checked(exchange(request));
                    } catch (Wire.Malformed e) {
                        row.missed(e.getMessage());
                    } catch (IOException e) {
                        // Whoever sends too much may lose the connection with the answer on it.
                        count("cut off");
                    }
                }));
            }
        }
        return futures;
    }

    /// What an attacker does on a thread of its own.
    interface Asking {
        void run() throws Exception;
    }

    static Future<?> start(Asking asking) {
        var task = new FutureTask<Void>(() -> {
            asking.run();
            return null;
        });
        Thread.ofVirtual().start(task);
        return task;
    }

    Wire.Answer ask(Seeds.Payload payload) throws IOException {
        return checked(exchange(payload.request()));
    }

    /// Sends a request on a connection of its own, and gives its answer as it is.
    Wire.Answer exchange(byte[] request) throws IOException {
        try (var wire = target.wire(PATIENCE)) {
            return wire.ask(request);
        }
    }

    Wire.Answer checked(Wire.Answer answer) {
        Rules.broken(answer).ifPresent(broken -> row.missed("an attacker got " + broken));
        return counted(answer);
    }

    Wire.Answer counted(Wire.Answer answer) {
        count(String.valueOf(answer.status()));
        return answer;
    }

    synchronized void count(String answer) {
        row.requests(1);
        answers.merge(answer, 1, Integer::sum);
    }

    /// Opens connections, sends something on each and no more, and keeps them for a while.
    void hold(int connections, byte[] beginning) throws Exception {
        var wires = new ArrayList<Wire>();
        try {
            for (int i = 0; i < connections; i++) {
                try {
                    var wire = target.wire(Duration.ofSeconds(2));
                    wires.add(wire);
                    wire.send(beginning);
                    count("held");
                } catch (IOException e) {
                    count("not taken");
                }
            }
            Thread.sleep(HELD);
        } finally {
            for (var wire : wires) {
                wire.close();
            }
        }
    }

    /// Clients that wait 2 s for an answer, and ask again then. What is answered in time is compared
    /// with what two patient clients get.
    private void overload() throws Exception {
        var question = Bombs.question(
                "Who came to the house?", "Bob came to the small house by the sea that day. ".repeat(12));
        // Only the strict form judges the throughput, and needs so long to measure it.
        double alone = answersPerSecond(question, 2, Duration.ofSeconds(limits.isStrict() ? 4 : 1));
        double overloaded = answersPerSecond(question, 200, Duration.ofSeconds(limits.isStrict() ? 12 : 5));
        row.note("%.0f answers/s to 2 clients, %.0f to 200 impatient ones".formatted(alone, overloaded));
        row.expect(
                "only %.0f %% of what 2 clients get is answered in time".formatted(100 * overloaded / alone),
                overloaded > alone / 2 || !limits.isStrict());
    }

    private double answersPerSecond(Seeds.Payload payload, int clients, Duration duration) throws Exception {
        var inTime = new AtomicInteger();
        // The first requests find an empty queue.
        long counted = System.nanoTime() + Duration.ofSeconds(3).toNanos();
        long end = counted + duration.toNanos();
        try (var executor = Executors.newVirtualThreadPerTaskExecutor()) {
            for (int i = 0; i < clients; i++) {
                var _ = executor.submit(() -> {
                    while (System.nanoTime() < end) {
                        try (var wire = target.wire(Duration.ofSeconds(2))) {
                            var answer = checked(wire.ask(payload.request()));
                            if (answer.status() == 200) {
                                inTime.addAndGet(System.nanoTime() > counted ? 1 : 0);
                            } else {
                                Thread.sleep(1_000);
                            }
                        } catch (IOException e) {
                            count("given up");
                        }
                    }
                    return null;
                });
            }
        }
        return inTime.get() / (double) duration.toSeconds();
    }

    private void fillTheHeap() throws Exception {
        awaitReady();
        inBackground(2, Seeds.Payload.of("text/plain", "fill the heap"));
        long deadline = System.nanoTime() + PATIENCE.toNanos();
        while (target.answersPing() && System.nanoTime() < deadline) {
            Thread.sleep(100);
        }
        row.expect("/ping is still 200 after the heap was filled", !target.answersPing());
        var log = target.log().toLowerCase(Locale.ROOT);
        row.expect("the log does not say that memory is short", log.contains("memory") || log.contains("heap"));
        try {
            expectEnd();
        } catch (IOException e) {
            // It had no room for an answer to its own /ping either.
            int code = target.exitCode(PATIENCE);
            row.expect("it ended itself with %d, expected 3".formatted(code), code == 3);
        }
    }

    /// @return the exit code
    int expectEnd() throws Exception {
        long begin = System.nanoTime();
        target.signal("TERM");
        int code = target.exitCode(PATIENCE);
        var took = Duration.ofNanos(System.nanoTime() - begin);
        row.note("ended by SIGTERM with %d after %.1f s".formatted(code, took.toMillis() / 1e3));
        row.expect(
                "SIGTERM did not end it within %d s".formatted(limits.stop().toSeconds()),
                code >= 0 && took.compareTo(limits.stop()) <= 0);
        return code;
    }

    private void askWithoutALog() throws Exception {
        int before = target.descriptors();
        for (int i = 0; i < 10; i++) {
            post(300, target.launch().model().good().getFirst());
        }
        int after = target.descriptors();
        // A busy machine closes the last connections a little later.
        long deadline = System.nanoTime() + PATIENCE.toNanos();
        while (after > before + 100 && System.nanoTime() < deadline) {
            Thread.sleep(100);
            after = target.descriptors();
        }
        row.note("%d descriptors before, %d after".formatted(before, after));
        row.expect(
                "%d descriptors are open after 3,000 requests, %d before".formatted(after, before),
                after <= before + 100);
        expectAnswered(3_000);
    }

    /// Rejected in time counts as answered.
    void expectAnswered(int requests) {
        row.expect(
                "of %d requests only these were answered: %s".formatted(requests, answers),
                Stream.of("200", "429", "503")
                                .mapToInt(status -> answers.getOrDefault(status, 0))
                                .sum()
                        == requests);
    }

    private void forge() throws Exception {
        var body = target.launch().model().good().getFirst().body();
        for (var header : List.of(
                "X-Amzn-SageMaker-Inference-Id: ",
                "x-amzn-RequestId: ",
                "traceparent: ",
                "Accept: ",
                "Content-Type: ",
                "X-Amzn-SageMaker-Custom-Attributes: ")) {
            send(1, Seeds.request(header + FORGED + "\r\n", body));
        }
        for (var bytes : List.of(
                "GET / HTTP/1.1\r\nHost: a\r\nHost: \u009b31m\r\n\r\n",
                "GET /\u009b31m HTTP/1.1\r\nHost: x\r\n\r\n",
                "GET /%9b%0a%0d%1b[31m HTTP/1.1\r\nHost: x\r\n\r\n",
                "GET /?" + FORGED + " HTTP/1.1\r\nHost: x\r\n\r\n",
                "GET /" + FORGED.replace(" ", "%20") + " HTTP/1.1\r\nHost: x\r\n\r\n",
                "\u009b31m / HTTP/1.1\r\nHost: x\r\n\r\n")) {
            send(1, Seeds.ascii(bytes));
        }
        Thread.sleep(500);
        var forged = Rules.forged(target.log(), FORGED);
        row.expect(
                "%d lines of the log are forged, such as %s"
                        .formatted(forged.size(), forged.isEmpty() ? "" : forged.getFirst()),
                forged.isEmpty());
    }

    private void halfClose() throws Exception {
        for (var payload : target.launch().model().good()) {
            try (var wire = target.wire(PATIENCE)) {
                wire.send(payload.request());
                wire.endOutput();
                var answers = wire.answersUntilClosed(false);
                answers.forEach(this::counted);
                row.expect(
                        "a client that half-closed got %d answers".formatted(answers.size()),
                        answers.size() == 1
                                && List.of(200, Rules.CLIENT_LEFT)
                                        .contains(answers.getFirst().status()));
            }
        }
    }

    /// Of the Open Inference Protocol's tensors that stand behind their JSON.
    private void misstateLengths() throws Exception {
        var lengths = List.of("-1", "0", "1", "63", "2147483647", "4294967296", "9223372036854775808", "x", "");
        for (var size : lengths) {
            var json = """
          {"inputs": [{"name": "question", "datatype": "BYTES", "shape": [%s], "parameters": {"binary_data_size": %s}},
          {"name": "context", "datatype": "BYTES", "shape": [1], "data": ["a"]}]}\
          """.formatted(size.isEmpty() ? "1" : size, size.isEmpty() ? "5" : size);
            for (var length : lengths) {
                var header = length.isEmpty() ? String.valueOf(json.length()) : length;
                for (var prefix : List.of("\u0001\0\0\0", "\u00ff\u00ff\u00ff\u00ff", "\u00ff\u00ff\u00ff\u007f", "")) {
                    send(
                            1,
                            Seeds.request(
                                    "POST",
                                    "/v2/models/model/infer",
                                    "Inference-Header-Content-Length: %s\r\n".formatted(header),
                                    (json + prefix + "a").getBytes(StandardCharsets.ISO_8859_1)));
                }
            }
        }
    }

    /// As soon as it says anything. A signal before that may come while the JVM itself starts, and
    /// ends it by the signal.
    private void stopEarly() throws Exception {
        while (target.isAlive() && target.log().isBlank()) {
            Thread.sleep(20);
        }
        if (target.isAlive()) {
            expectEnd();
        }
        int code = target.exitCode(PATIENCE);
        row.expect("SIGTERM while it starts ended it with %d, expected 0".formatted(code), code == 0);
    }
}
