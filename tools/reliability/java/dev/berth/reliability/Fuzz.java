package dev.berth.reliability;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Base64;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicLong;

/// Sends requests that are made of a seed and a number, so that each can be made again, and checks
/// every response.
final class Fuzz {

    static final List<Seeds.Model> MODELS =
            List.of(Seeds.Model.QA, Seeds.Model.TENSOR, Seeds.Model.PICTURES, Seeds.Model.CLASSES, Seeds.Model.NOTHING);

    private static final Duration PATIENCE = Duration.ofSeconds(60);
    private static final double GOOD = 0.02;
    private static final double RAW = 0.15;
    private static final int MOST_OF_A_KIND = 3;
    private static final int MOST_KINDS = 50;
    private static final int KIND_LENGTH = 60;

    private final Target.Place place;
    private final long seed;
    private final int clients;
    private final Attacks.Limits limits;
    private final List<Seeds.Payload> seeds = Seeds.all();

    Fuzz(Target.Place place, long seed, int clients, Attacks.Limits limits) {
        this.place = place;
        this.seed = seed;
        this.clients = clients;
        this.limits = limits;
    }

    /// Shares the requests among the models, or gives them to those that are named.
    void run(List<Seeds.Model> models, long requests, Report report) throws Exception {
        var chosen = place.isFixed() ? List.of(Seeds.Model.QA) : models.isEmpty() ? MODELS : models;
        for (var model : chosen) {
            var row = new Report.Row("fuzz-" + model.name().toLowerCase(Locale.ROOT));
            try (var target = Target.start(place, server(model));
                    var watch = Watch.begin(target)) {
                new Run(target, watch, row, requests / chosen.size()).attack();
                watch.end(row, limits.ping(), limits.good());
                if (!target.isAlive()) {
                    row.died(target.log());
                }
            }
            report.add(row);
        }
    }

    private static Target.Launch server(Seeds.Model model) {
        // Without a line for each request, of which there are millions.
        return Target.Launch.of(model).with("--timeout", "20", "--log-level", "ERROR");
    }

    /// What the clients of one server share.
    private final class Run {
        private final Target target;
        private final Report.Row row;
        private final List<Seeds.Payload> good;
        private final List<Seeds.Payload> likely;
        private final List<Wire.Answer> expected;
        private final long requests;
        private final AtomicLong next = new AtomicLong();
        private final Map<String, Integer> saved = new ConcurrentHashMap<>();
        private final AtomicLong refused = new AtomicLong();
        private volatile boolean isDead;

        Run(Target target, Watch watch, Report.Row row, long requests) {
            this.target = target;
            this.row = row;
            this.requests = requests;
            this.good = target.launch().model().good();
            this.expected = watch.expected();
            var types = good.stream().map(Seeds.Payload::type).toList();
            this.likely = seeds.stream()
                    .filter(payload -> types.contains(payload.type()))
                    .toList();
        }

        void attack() {
            long begin = System.nanoTime();
            try (var executor = Executors.newFixedThreadPool(clients)) {
                for (int i = 0; i < clients; i++) {
                    var _ = executor.submit(this::askAll);
                }
            }
            row.requests(Math.min(next.get(), requests));
            row.expect("failures by kind: " + saved, saved.isEmpty());
            row.note("%.0f requests/s, %d answered by 4xx or 5xx"
                    .formatted(Math.min(next.get(), requests) * 1e9 / (System.nanoTime() - begin), refused.get()));
        }

        private void askAll() {
            Wire kept = null;
            for (long number = next.getAndIncrement(); number < requests && !isDead; number = next.getAndIncrement()) {
                var random = new SplittableRandom(seed * 0x9e3779b97f4a7c15L + number);
                var mutator = new Mutator(random);
                if (mutator.chance(RAW)) {
                    askRaw(number, mutator.request(mutator.one(seeds)));
                    continue;
                }
                int which = mutator.chance(GOOD) ? random.nextInt(good.size()) : -1;
                var request = which >= 0 ? good.get(which).request() : broken(mutator);
                kept = ask(number, kept, request, which);
            }
            close(kept);
        }

        /// Mostly of a type that the model takes, or few would go beyond its check.
        private byte[] broken(Mutator mutator) {
            var payload = mutator.one(mutator.chance(0.8) ? likely : seeds);
            boolean inHeaders = mutator.chance(0.2);
            var headers = "Content-Type: " + mutator.type(payload) + "\r\n" + (inHeaders ? mutator.headers() : "");
            return Seeds.request(headers, inHeaders && mutator.chance(0.5) ? payload.body() : mutator.body(payload));
        }

        /// Asks on a connection that is kept, where one is. The server may have closed it in the
        /// meantime, so it is tried again on a new one.
        private Wire ask(long number, Wire kept, byte[] request, int which) {
            var wire = kept;
            for (int attempt = wire == null ? 1 : 0; attempt < 2; attempt++) {
                try {
                    wire = wire == null ? target.wire(PATIENCE) : wire;
                    var answer = wire.ask(request);
                    check(number, request, answer, which);
                    if (!answer.closes()) {
                        return wire;
                    }
                } catch (Wire.Malformed e) {
                    failed(number, request, e.getMessage());
                    attempt = 1;
                } catch (IOException e) {
                    if (attempt == 1) {
                        noAnswer(number, request, e);
                    }
                    close(wire);
                    wire = null;
                    continue;
                }
                close(wire);
                return null;
            }
            return null;
        }

        /// On a connection of its own that ends once an answer begins, or the request seems to have no
        /// end. What is no whole request needs no response. A request that takes longer counts as one
        /// whose client has left.
        private void askRaw(long number, byte[] request) {
            try (var wire = target.wire(PATIENCE)) {
                wire.send(request);
                wire.awaitAnswer(Duration.ofMillis(200));
                wire.endOutput();
                for (var answer : wire.answersUntilClosed(Wire.isHead(request))) {
                    if (answer.status() != Rules.CLIENT_LEFT) {
                        check(number, request, answer, -1);
                    }
                }
            } catch (Wire.Malformed e) {
                failed(number, request, e.getMessage());
            } catch (java.net.SocketException e) {
                // Closed by the server before it has read everything, which is its right with what is no
                // HTTP.
                isDead = !target.isAlive();
            } catch (IOException e) {
                noAnswer(number, request, e);
            }
        }

        private void noAnswer(long number, byte[] request, IOException e) {
            isDead = !target.isAlive();
            failed(number, request, "no answer: " + e.getMessage());
        }

        private void check(long number, byte[] request, Wire.Answer answer, int which) {
            if (answer.status() >= 400) {
                refused.incrementAndGet();
            }
            Rules.broken(answer).ifPresent(broken -> failed(number, request, broken));
            if (which >= 0 && answer.status() == 200 && !Watch.isSame(answer, expected.get(which))) {
                row.wrong(1);
                failed(number, request, "the wrong answer " + answer.text());
            }
            if (which >= 0 && answer.status() != 200 && !answer.isRefusal()) {
                failed(number, request, "an error for a good request: " + answer.text());
            }
        }

        /// Notes a failure and keeps its request, unless there have been enough of its kind.
        private void failed(long number, byte[] request, String why) {
            var kind = why.replaceAll("\\d+", "0").replaceAll("[^ a-zA-Z0:{}]+", "");
            if (saved.merge(kind.substring(0, Math.min(KIND_LENGTH, kind.length())), 1, Integer::sum) > MOST_OF_A_KIND
                    || saved.size() > MOST_KINDS) {
                return;
            }
            var model = target.launch().model();
            var file = Target.WORK.resolve(
                    "fuzz-%s-%d-%d.txt".formatted(model.name().toLowerCase(Locale.ROOT), seed, number));
            row.missed("%s: %s".formatted(file, why.substring(0, Math.min(300, why.length()))));
            try {
                Files.createDirectories(Target.WORK);
                Files.write(
                        file,
                        List.of(
                                model.name(),
                                "seed %d, number %d: %s"
                                        .formatted(
                                                seed,
                                                number,
                                                why.lines().findFirst().orElse("")),
                                Base64.getEncoder().encodeToString(request)));
            } catch (IOException e) {
                row.missed("it could not be kept: " + e);
            }
        }
    }

    private static void close(Wire wire) {
        try {
            if (wire != null) {
                wire.close();
            }
        } catch (IOException e) {
            // It is closed either way.
        }
    }

    /// Sends a request that was kept, to a server of its model.
    static void replay(Target.Place place, String file) throws Exception {
        var lines = Files.readAllLines(Path.of(file));
        System.out.println(lines.get(1));
        try (var target = Target.start(place, Target.Launch.of(Seeds.Model.valueOf(lines.getFirst())));
                var wire = target.wire(PATIENCE)) {
            var request = Base64.getDecoder().decode(lines.get(2));
            wire.send(request);
            wire.endOutput();
            for (var answer : wire.answersUntilClosed(Wire.isHead(request))) {
                System.out.println(answer.status() + " " + answer.text());
                Rules.broken(answer).ifPresent(broken -> System.out.println("broken: " + broken));
            }
            System.out.println(target.isAlive() ? "the server lives" : "the server has ended");
        }
    }
}
