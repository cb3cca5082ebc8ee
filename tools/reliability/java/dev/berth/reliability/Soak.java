package dev.berth.reliability;

import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.SplittableRandom;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicLong;

/// Mixed requests for a long time, nine of ten good ones. All answers must stay the same, and the
/// memory that the process holds must stay flat after the first tenth.
final class Soak {

    private static final Duration PATIENCE = Duration.ofSeconds(60);
    private static final double BAD = 0.1;

    /// The JVM still grows into its heap in a shorter run.
    private static final long FEWEST_FOR_MEMORY = 50_000;

    private static final int SAMPLES = 200;
    private static final long TOLERATED_MEGABYTES = 32;

    private Soak() {}

    static void run(Target.Place place, long requests, long seed, int clients, Attacks.Limits limits, Report report)
            throws Exception {
        var models = place.isFixed()
                ? List.of(Seeds.Model.QA)
                : List.of(Seeds.Model.QA, Seeds.Model.TENSOR, Seeds.Model.PICTURES);
        for (var model : models) {
            var row = new Report.Row("soak-" + model.name().toLowerCase(Locale.ROOT));
            try (var target = Target.start(place, Target.Launch.of(model));
                    var watch = Watch.begin(target)) {
                long share = requests / models.size();
                ask(target, watch, row, share, seed, clients);
                var samples = watch.residentSamples(SAMPLES);
                watch.end(row, limits.ping(), limits.good());
                if (!target.isAlive()) {
                    row.died(target.log());
                }
                checkMemory(row, samples, share);
            }
            report.add(row);
        }
    }

    private static void ask(Target target, Watch watch, Report.Row row, long requests, long seed, int clients) {
        var good = target.launch().model().good();
        var seeds = Seeds.all();
        var expected = watch.expected();
        var next = new AtomicLong();
        var refused = new AtomicLong();
        long begin = System.nanoTime();
        try (var executor = Executors.newFixedThreadPool(clients)) {
            for (int i = 0; i < clients; i++) {
                var _ = executor.submit(() -> {
                    for (long number = next.getAndIncrement(); number < requests; number = next.getAndIncrement()) {
                        var random = new SplittableRandom(seed * 0x9e3779b97f4a7c15L - number);
                        var mutator = new Mutator(random);
                        boolean isBad = mutator.chance(BAD);
                        int which = random.nextInt(good.size());
                        var payload = isBad ? mutator.one(seeds) : good.get(which);
                        var request = isBad
                                ? new Seeds.Payload(payload.type(), mutator.body(payload)).request()
                                : payload.request();
                        try (var wire = target.wire(PATIENCE)) {
                            var answer = wire.ask(request);
                            Rules.broken(answer).ifPresent(row::missed);
                            refused.addAndGet(answer.isRefusal() ? 1 : 0);
                            if (!isBad && !answer.isRefusal() && !Watch.isSame(answer, expected.get(which))) {
                                row.wrong(1);
                            }
                        } catch (IOException e) {
                            row.missed("request %d got no answer: %s".formatted(number, e));
                        }
                    }
                });
            }
        }
        row.requests(requests);
        row.note("%.0f requests/s, %d rejected".formatted(requests * 1e9 / (System.nanoTime() - begin), refused.get()));
    }

    /// Compares the second tenth of the time with the last one.
    private static void checkMemory(Report.Row row, List<Long> samples, long requests) {
        if (requests < FEWEST_FOR_MEMORY || samples.size() < SAMPLES || samples.contains(0L)) {
            row.note("too short to judge the memory");
            return;
        }
        long early = median(samples.subList(SAMPLES / 10, SAMPLES / 5));
        long late = median(samples.subList(SAMPLES - SAMPLES / 10, SAMPLES));
        row.note("%d MB after the first tenth, %d MB in the last".formatted(early, late));
        row.expect(
                "memory grew from %d to %d MB after the first tenth".formatted(early, late),
                late <= early * 1.05 + TOLERATED_MEGABYTES);
    }

    private static long median(List<Long> values) {
        return values.stream().sorted().toList().get(values.size() / 2);
    }
}
