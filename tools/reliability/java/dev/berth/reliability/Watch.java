package dev.berth.reliability;

import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/// Watches a server while it is attacked, as a platform and as an innocent client do: `/ping` on
/// new connections, good requests whose answers are compared with the first ones, over HTTP,
/// WebSockets and gRPC by turns, and the memory that the process holds.
final class Watch implements AutoCloseable {

    private static final Duration PATIENCE = Duration.ofMinutes(2);
    private static final Duration BETWEEN_PINGS = Duration.ofMillis(100);
    private static final int MOST_SAMPLES = 6;
    private static final Pattern FRACTION = Pattern.compile("-?\\d+\\.\\d+(?:E-?\\d+)?");

    private final Target target;
    private final List<Wire.Answer> expected = new ArrayList<>();
    private final List<Innocent> innocents = new ArrayList<>();
    private final List<String> problems = new ArrayList<>();
    private final List<Long> resident = new ArrayList<>();
    private final List<Thread> threads;

    private volatile boolean ends;
    private long slowestPing;
    private long slowestGood;
    private long answered;
    private long refused;
    private long wrong;
    private long failed;
    private long failedPings;

    /// One who asks the same again and again.
    ///
    /// @param expected the answer that it had before the attack
    private record Innocent(Asking asking, Wire.Answer expected) {}

    private interface Asking {
        Wire.Answer ask() throws IOException;
    }

    private Watch(Target target) {
        this.target = target;
        this.threads = List.of(
                Thread.ofPlatform().name("pings").unstarted(this::ping),
                Thread.ofPlatform().name("innocent").unstarted(this::askAlways));
    }

    /// Asks each good request once, and watches from then on.
    static Watch begin(Target target) throws IOException {
        var watch = new Watch(target);
        Asking call = () -> Http2.ask(target, PATIENCE);
        var called = target.speaksGrpc() ? Optional.of(first("gRPC", call)) : Optional.<Wire.Answer>empty();
        for (var payload : target.launch().model().good()) {
            Asking post = () -> once(target, payload);
            var answer = first(payload.type(), post);
            watch.expected.add(answer);
            watch.innocents.add(new Innocent(post, answer));
            watch.innocents.add(new Innocent(() -> Sockets.ask(target, payload, PATIENCE), answer));
            called.ifPresent(expected -> watch.innocents.add(new Innocent(call, expected)));
        }
        watch.threads.forEach(Thread::start);
        return watch;
    }

    private static Wire.Answer first(String kind, Asking asking) throws IOException {
        var answer = asking.ask();
        if (answer.status() != 200) {
            throw new IOException("a good request of %s was answered by %d before the attack: %s"
                    .formatted(kind, answer.status(), answer.text()));
        }
        return answer;
    }

    private static Wire.Answer once(Target target, Seeds.Payload payload) throws IOException {
        try (var wire = target.wire(PATIENCE)) {
            return wire.ask(payload.request(target.launch().path()));
        }
    }

    /// Whether an answer says the same as the first one did. Fractions may differ by a
    /// hundred-thousandth: a record is predicted together with others, and floating-point sums depend
    /// on the order.
    static boolean isSame(Wire.Answer answer, Wire.Answer expected) {
        if (answer.status() != 200) {
            return false;
        }
        var text = answer.text();
        var other = expected.text();
        return text.equals(other)
                || (FRACTION.splitAsStream(text)
                                .toList()
                                .equals(FRACTION.splitAsStream(other).toList())
                        && isNear(fractions(text), fractions(other)));
    }

    static List<Double> fractions(String text) {
        return FRACTION.matcher(text)
                .results()
                .map(match -> Double.parseDouble(match.group()))
                .toList();
    }

    static boolean isNear(List<Double> some, List<Double> others) {
        return some.size() == others.size()
                && IntStream.range(0, some.size())
                        .allMatch(i ->
                                Math.abs(some.get(i) - others.get(i)) <= 1e-5 * Math.max(1, Math.abs(others.get(i))));
    }

    /// What each good request is answered by, in the order of [Seeds.Model#good].
    List<Wire.Answer> expected() {
        return List.copyOf(expected);
    }

    private void ping() {
        while (!ends) {
            long begin = System.nanoTime();
            var failure = failureOfPing();
            synchronized (this) {
                slowestPing = Math.max(slowestPing, System.nanoTime() - begin);
                failure.ifPresent(text -> {
                    failedPings++;
                    problem("/ping got " + text);
                });
                resident.add(target.residentMegabytes());
            }
            pause(BETWEEN_PINGS);
        }
    }

    private Optional<String> failureOfPing() {
        try {
            var answer = target.ping();
            return answer.status() == 200 ? Optional.empty() : Optional.of(answer.status() + ": " + answer.text());
        } catch (IOException e) {
            return Optional.of("no answer: " + e);
        }
    }

    private void askAlways() {
        for (int i = 0; !ends; i++) {
            askOnce(innocents.get(i % innocents.size()));
            pause(BETWEEN_PINGS);
        }
    }

    private void askOnce(Innocent innocent) {
        long begin = System.nanoTime();
        try {
            var answer = innocent.asking.ask();
            synchronized (this) {
                if (isSame(answer, innocent.expected)) {
                    answered++;
                    slowestGood = Math.max(slowestGood, System.nanoTime() - begin);
                } else if (answer.isRefusal()) {
                    refused++;
                } else if (answer.status() == 200) {
                    wrong++;
                    problem("an innocent's answer was " + answer.text());
                } else {
                    failed++;
                    problem("an innocent got " + answer.status() + ": " + answer.text());
                }
            }
        } catch (IOException e) {
            synchronized (this) {
                failed++;
                problem("an innocent got no answer: " + e);
            }
        }
    }

    private void problem(String text) {
        if (problems.size() < 3) {
            problems.add(text.substring(0, Math.min(200, text.length())));
        }
    }

    private static void pause(Duration duration) {
        try {
            Thread.sleep(duration);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    /// Ends the watch with one last good request of each kind; those must be answered.
    ///
    /// @param pingLimit the most that `/ping` may take
    /// @param goodLimit the most that a good request may take
    void end(Report.Row row, Duration pingLimit, Duration goodLimit) {
        close();
        for (var innocent : innocents) {
            for (int attempt = 0; attempt < 50; attempt++) {
                long before = refused;
                askOnce(innocent);
                if (refused == before) {
                    break;
                }
                pause(BETWEEN_PINGS);
            }
        }
        judge(row, pingLimit, goodLimit);
    }

    /// Says what has been seen until now.
    synchronized void judge(Report.Row row, Duration pingLimit, Duration goodLimit) {
        row.requests(answered + refused + wrong + failed);
        row.wrong(wrong);
        row.slowestPing(slowestPing);
        row.resident(curve());
        problems.forEach(row::missed);
        row.expect("an innocent got no answer or an error %d times".formatted(failed), failed == 0);
        row.expect("/ping was not 200 %d times".formatted(failedPings), failedPings == 0);
        row.expect("/ping took %d ms".formatted(slowestPing / 1_000_000), slowestPing <= pingLimit.toNanos());
        row.expect("a good request took %d ms".formatted(slowestGood / 1_000_000), slowestGood <= goodLimit.toNanos());
        row.note("good: %d answered, %d rejected, slowest %d ms".formatted(answered, refused, slowestGood / 1_000_000));
    }

    /// The resident memory from the first sample to the last, in a few steps.
    String curve() {
        return residentSamples(MOST_SAMPLES).stream().map(String::valueOf).collect(Collectors.joining(" "));
    }

    synchronized List<Long> residentSamples(int most) {
        int count = Math.min(most, resident.size());
        return IntStream.range(0, count)
                .mapToObj(i -> resident.get((int) ((long) i * (resident.size() - 1) / Math.max(1, count - 1))))
                .toList();
    }

    @Override
    public void close() {
        ends = true;
        for (var thread : threads) {
            try {
                thread.join();
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
        }
    }
}
