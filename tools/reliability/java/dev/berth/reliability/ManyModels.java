package dev.berth.reliability;

import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.EnumMap;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/// Many models in one server. Clients ask any of them, load and unload any of them, all at random.
/// No answer may be wrong, no model may be missing that was loaded or serve when it was unloaded,
/// and the process must not grow.
///
/// The time is split into rounds. After each of them the clients stop, all models but one are
/// unloaded, and the process is measured. So what it holds does not depend on how many models
/// happen to be loaded. The Java heap has one size and is touched at start, because what the
/// collector gives back would hide what the models leave behind.
final class ManyModels {

    /// How many models, and for how long.
    record Plan(int models, int rounds, Duration round, long seed) {
        static Plan of(int minutes, long seed) {
            return new Plan(50, minutes, Duration.ofMinutes(1), seed);
        }

        static Plan quick(long seed) {
            return new Plan(10, 1, Duration.ofSeconds(15), seed);
        }
    }

    /// What is loaded: seven of ten are the sample, the others have another handler or hooks of their
    /// own.
    static final List<Seeds.Model> ARTIFACTS =
            List.of(Seeds.Model.QA, Seeds.Model.TENSOR, Seeds.Model.PICTURES, Seeds.Model.NOTHING, Seeds.Model.BROKEN);

    private static final int CLIENTS = 16;

    /// Of all actions.
    private static final double LOAD = 0.02;

    private static final double UNLOAD = 0.03;
    private static final double BREAK = 0.005;

    /// Of all questions to a model that is not there: it is loaded, as SageMaker would do.
    private static final double LOAD_WHEN_ABSENT = 0.2;

    private static final Duration PATIENCE = Duration.ofMinutes(2);

    /// After which the native heap was trimmed.
    private static final Duration REST = Duration.ofSeconds(5);

    private static final int FEWEST_ROUNDS_FOR_MEMORY = 4;
    private static final long TOLERATED_MEGABYTES = 32;
    private static final long TOLERATED_THREADS = 16;

    private static final Pattern LISTED = Pattern.compile("\"modelName\":\"([^\"]+)\"");

    private enum Known {
        LOADED,
        GONE,
        UNKNOWN
    }

    /// What is known of a name, and after how many changes.
    private record Look(Known known, long changes) {}

    /// A name and what its clients have done to it. When changes overlap, nobody knows which of them
    /// came last.
    private static final class Name {
        private final String text;
        private final Seeds.Model artifact;
        private Known known = Known.GONE;
        private long changes;
        private int running;
        private boolean overlap;

        private Name(String text, Seeds.Model artifact) {
            this.text = text;
            this.artifact = artifact;
        }

        private synchronized Look look() {
            return new Look(running == 0 ? known : Known.UNKNOWN, changes);
        }

        private synchronized Known begin() {
            changes++;
            running++;
            overlap |= running > 1;
            return running == 1 ? known : Known.UNKNOWN;
        }

        /// @return whether no other change ran at the same time
        private synchronized boolean end(Known after) {
            boolean alone = !overlap;
            known = alone ? after : Known.UNKNOWN;
            if (--running == 0) {
                overlap = false;
            }
            return alone;
        }
    }

    /// What the process holds when only one model is loaded.
    private record Size(long megabytes, long threads, long descriptors) {}

    private final Target target;
    private final Report.Row row;
    private final Plan plan;
    private final List<Name> names;

    /// Asked for once, because some artifacts are written then.
    private final Map<Seeds.Model, String> urls;

    private final Map<Seeds.Model, List<Wire.Answer>> expected = new EnumMap<>(Seeds.Model.class);
    private final AtomicLong answered = new AtomicLong();
    private final AtomicLong refused = new AtomicLong();
    private final AtomicLong absent = new AtomicLong();
    private final AtomicLong full = new AtomicLong();
    private final AtomicInteger loads = new AtomicInteger();
    private final AtomicInteger unloads = new AtomicInteger();
    private final AtomicLong slowestLoad = new AtomicLong();

    private ManyModels(Target target, Report.Row row, Plan plan) {
        this.target = target;
        this.row = row;
        this.plan = plan;
        this.urls = ARTIFACTS.stream().collect(Collectors.toMap(artifact -> artifact, target::artifact));
        this.names = IntStream.range(0, plan.models)
                .mapToObj(i -> new Name("model-" + i, artifact(i)))
                .toList();
    }

    private static Seeds.Model artifact(int number) {
        return switch (number % 10) {
            case 3 -> Seeds.Model.TENSOR;
            case 6 -> Seeds.Model.PICTURES;
            case 9 -> Seeds.Model.NOTHING;
            default -> Seeds.Model.QA;
        };
    }

    static void run(Target.Place place, Plan plan, Attacks.Limits limits, Report report) throws Exception {
        var row = new Report.Row("models");
        if (place.isFixed()) {
            row.note("skipped: it needs a server of its own");
            report.add(row);
            return;
        }
        try (var target = Target.start(place, Target.Launch.of(Seeds.Model.QA).with(Target.Trait.MANY_MODELS))) {
            var many = new ManyModels(target, row, plan);
            many.learn();
            try (var watch = Watch.begin(target)) {
                many.rounds();
                watch.end(row, limits.ping(), limits.good());
            }
            if (!target.isAlive()) {
                row.died(target.log());
            }
        }
        report.add(row);
    }

    /// Loads each artifact alone, and takes its answers for the right ones. The sample's answer is
    /// known.
    private void learn() throws IOException {
        for (var artifact : Set.copyOf(names.stream().map(name -> name.artifact).toList())) {
            var name = artifact == Seeds.Model.QA
                    ? Target.STEADY
                    : "first-" + artifact.name().toLowerCase(Locale.ROOT);
            require(load(name, artifact), 200);
            var answers = new ArrayList<Wire.Answer>();
            for (var payload : artifact.good()) {
                answers.add(require(ask(name, payload), 200));
            }
            expected.put(artifact, answers);
            if (!name.equals(Target.STEADY)) {
                require(unload(name), 200);
            }
        }
        var texts = expected.get(Seeds.Model.QA).stream().map(Wire.Answer::text).toList();
        row.expect(
                "the sample was answered by " + texts,
                texts.stream().anyMatch(text -> text.contains("\"answer\":\"Warsaw\"")));
    }

    private static Wire.Answer require(Wire.Answer answer, int status) throws IOException {
        if (answer.status() != status) {
            throw new IOException("found %d before the clients began: %s".formatted(answer.status(), answer.text()));
        }
        return answer;
    }

    private void rounds() throws Exception {
        var sizes = new ArrayList<Size>();
        long begin = System.nanoTime();
        for (int round = 0; round < plan.rounds; round++) {
            round(round);
            checkListing();
            unloadAll();
            Thread.sleep(REST);
            sizes.add(new Size(target.residentMegabytes(), target.threads(), target.descriptors()));
        }
        row.requests(answered.get() + refused.get() + absent.get());
        row.note("%d answers, %d got 404, %d got 503 in %d s; %d loads, %d unloads, %d got 507, slowest load %d ms"
                .formatted(
                        answered.get(),
                        absent.get(),
                        refused.get(),
                        (System.nanoTime() - begin) / 1_000_000_000,
                        loads.get(),
                        unloads.get(),
                        full.get(),
                        slowestLoad.get() / 1_000_000));
        checkSizes(sizes);
    }

    private void round(int round) throws Exception {
        long end = System.nanoTime() + plan.round.toNanos();
        try (var executor = Executors.newFixedThreadPool(CLIENTS)) {
            var clients = new ArrayList<Future<?>>();
            for (int client = 0; client < CLIENTS; client++) {
                var random = new SplittableRandom(plan.seed * 0x9e3779b97f4a7c15L + (long) round * CLIENTS + client);
                clients.add(executor.submit(() -> {
                    while (System.nanoTime() < end) {
                        act(random);
                    }
                }));
            }
            for (var client : clients) {
                client.get();
            }
        }
    }

    private void act(SplittableRandom random) {
        var name = names.get(random.nextInt(names.size()));
        double chance = random.nextDouble();
        try {
            if (chance < LOAD) {
                change(name, true);
            } else if (chance < LOAD + UNLOAD) {
                change(name, false);
            } else if (chance < LOAD + UNLOAD + BREAK) {
                expect("a load of a broken artifact", load("broken", Seeds.Model.BROKEN), 400, 409);
            } else {
                ask(name, random);
            }
        } catch (IOException e) {
            row.missed("%s gave no answer: %s".formatted(name.text, e));
        }
    }

    private void ask(Name name, SplittableRandom random) throws IOException {
        int which = random.nextInt(name.artifact.good().size());
        var before = name.look();
        var answer = ask(name.text, name.artifact.good().get(which));
        // Where the name has changed meanwhile, it may have been there or not.
        var known = name.look().equals(before) ? before.known : Known.UNKNOWN;
        switch (answer.status()) {
            case 200 -> {
                answered.incrementAndGet();
                row.expect(name.text + " answered after it was unloaded", known != Known.GONE);
                if (!Watch.isSame(answer, expected.get(name.artifact).get(which))) {
                    row.wrong(1);
                }
            }
            case 404 -> {
                absent.incrementAndGet();
                row.expect(
                        "%s was loaded, and not found: %s".formatted(name.text, answer.text()), known != Known.LOADED);
                if (random.nextDouble() < LOAD_WHEN_ABSENT) {
                    change(name, true);
                }
            }
            default -> {
                refused.incrementAndGet();
                expect(name.text, answer, 503);
            }
        }
    }

    /// Loads or unloads a name, whether or not it is loaded.
    private void change(Name name, boolean loads) throws IOException {
        var before = name.begin();
        var after = Known.UNKNOWN;
        try {
            var answer = loads ? load(name.text, name.artifact) : unload(name.text);
            after = loads && answer.status() != 507 ? Known.LOADED : Known.GONE;
            (loads ? this.loads : unloads).addAndGet(answer.status() == 200 ? 1 : 0);
            full.addAndGet(answer.status() == 507 ? 1 : 0);
            expect(
                    (loads ? "a load of " : "an unload of ") + name.text,
                    answer,
                    loads ? new int[] {200, 409, 507} : new int[] {200, 404});
            // 507 says nothing of what was there.
            boolean was = answer.status() == (loads ? 409 : 200);
            if (name.end(after) && answer.status() != 507) {
                row.expect(
                        "%s was %s, and its %s was answered by %d"
                                .formatted(name.text, before, loads ? "load" : "unload", answer.status()),
                        before != (was ? Known.GONE : Known.LOADED));
            }
        } catch (IOException e) {
            name.end(Known.UNKNOWN);
            throw e;
        }
    }

    private void expect(String what, Wire.Answer answer, int... statuses) {
        row.expect(
                "%s was answered by %d: %s".formatted(what, answer.status(), answer.text()),
                Arrays.stream(statuses).anyMatch(status -> status == answer.status()));
    }

    private void checkListing() throws IOException {
        var listed = listed();
        for (var name : names) {
            var known = name.look().known;
            row.expect(
                    "%s is %s, and GET /models has %s".formatted(name.text, known, listed),
                    known == Known.UNKNOWN || listed.contains(name.text) == (known == Known.LOADED));
        }
    }

    private void unloadAll() throws IOException {
        var listed = listed();
        for (var name : names) {
            if (listed.contains(name.text)) {
                change(name, false);
            }
        }
        row.expect(
                "GET /models has " + listed() + " when all but one are unloaded",
                listed().equals(Set.of(Target.STEADY)));
    }

    private Set<String> listed() throws IOException {
        var answer = require(send(Seeds.request("GET", "/models", "", new byte[0])), 200);
        return LISTED.matcher(answer.text())
                .results()
                .map(match -> match.group(1))
                .collect(Collectors.toCollection(HashSet::new));
    }

    /// Compares the process after the second round with that after the last one.
    private void checkSizes(List<Size> sizes) {
        row.note("MB, threads, descriptors after each round: "
                + sizes.stream()
                        .map(size -> "%d %d %d".formatted(size.megabytes, size.threads, size.descriptors))
                        .collect(Collectors.joining(", ")));
        if (sizes.size() < FEWEST_ROUNDS_FOR_MEMORY || sizes.getLast().megabytes == 0) {
            row.note("too short to judge the memory");
            return;
        }
        var early = sizes.get(1);
        var late = sizes.getLast();
        row.expect(
                "the process grew from %s to %s".formatted(early, late),
                late.megabytes <= early.megabytes * 1.05 + TOLERATED_MEGABYTES
                        && late.threads <= early.threads + TOLERATED_THREADS
                        && late.descriptors <= early.descriptors + TOLERATED_THREADS);
    }

    private Wire.Answer ask(String name, Seeds.Payload payload) throws IOException {
        return send(payload.request("/models/" + name + "/invoke"));
    }

    private Wire.Answer load(String name, Seeds.Model artifact) throws IOException {
        var body = "{\"model_name\": \"%s\", \"url\": \"%s\"}".formatted(name, urls.get(artifact));
        long begin = System.nanoTime();
        var answer = send(Seeds.Payload.of("application/json", body).request("/models"));
        slowestLoad.accumulateAndGet(System.nanoTime() - begin, Math::max);
        return answer;
    }

    private Wire.Answer unload(String name) throws IOException {
        return send(Seeds.request("DELETE", "/models/" + name, "", new byte[0]));
    }

    private Wire.Answer send(byte[] request) throws IOException {
        try (var wire = target.wire(PATIENCE)) {
            var answer = wire.ask(request);
            Rules.broken(answer).ifPresent(row::missed);
            return answer;
        }
    }
}
