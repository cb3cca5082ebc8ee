package dev.berth.reliability;

import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/// Asynchronous calls whose names for their objects are meant to be in the way of others. Whatever
/// is accepted must have its object in the end.
final class HostileNames {

    private static final Path OUTPUT = Path.of(
            System.getProperty("java.io.tmpdir"),
            "berth-reliability-async-" + ProcessHandle.current().pid());

    private static final String PREFIX = "X-Amzn-SageMaker-";
    private static final String FILE = PREFIX + "Filename";
    private static final String DIRECTORY = PREFIX + "S3OutputPathExtension";

    /// Those of the server's own, those of other callers, and those that no disk takes.
    private static final List<Map<String, String>> NAMES = List.of(
            Map.of(FILE, "failures"),
            Map.of(DIRECTORY, "failures"),
            Map.of(DIRECTORY, "failures/"),
            Map.of(FILE, "failures", DIRECTORY, "failures"),
            Map.of(FILE, "victim.out"),
            Map.of(DIRECTORY, "victim.out"),
            Map.of(DIRECTORY, "victim.out/below"),
            Map.of(FILE, "victim-error.out"),
            Map.of(DIRECTORY, "victim-error.out"),
            Map.of(DIRECTORY, "failures/victim-error.out"),
            Map.of(DIRECTORY, "x".repeat(300)),
            Map.of(DIRECTORY, "y".repeat(512)),
            Map.of(DIRECTORY, "z/".repeat(256)),
            Map.of(DIRECTORY, "../escaped"),
            Map.of(DIRECTORY, "a/../../escaped"),
            Map.of(DIRECTORY, "/"),
            Map.of(DIRECTORY, "."),
            Map.of(FILE, "a".repeat(32), DIRECTORY, "b".repeat(255)),
            Map.of(FILE, "..out"),
            Map.of(FILE, "a/b"));

    private static final String OUTPUT_LOCATION = "outputlocation";
    private static final String FAILURE_LOCATION = "failurelocation";
    private static final String GOOD = "{\"question\": \"Who came?\", \"context\": \"Bob came.\"}";
    private static final String BAD = "not json";
    private static final int INNOCENT = 3;
    private static final Duration BETWEEN = Duration.ofMillis(100);
    private static final Duration PATIENCE = Duration.ofSeconds(20);

    private HostileNames() {}

    static List<Attacks.Case> all() {
        return List.of(Attacks.watched(
                "async-hostile-names",
                Target.Launch.of(Seeds.Model.QA).with("--async-output", OUTPUT.toString()),
                HostileNames::call));
    }

    /// A call that was accepted, and where one of its objects must be in the end.
    private record Accepted(Map<String, String> names, boolean isGood, Wire.Answer answer) {
        private String place(String header) {
            return answer.headers().getOrDefault("x-amzn-sagemaker-" + header, "");
        }

        private boolean isBelow(Path directory) {
            return Path.of(place(OUTPUT_LOCATION)).normalize().startsWith(directory)
                    && Path.of(place(FAILURE_LOCATION)).normalize().startsWith(directory);
        }

        /// A good one may fail too where its name can't be taken, and must say why then.
        private boolean isDone(Target target) {
            return (isGood && target.file(place(OUTPUT_LOCATION)).orElse("").contains("\"answer\":\"Bob\""))
                    || ((!isGood || !names.isEmpty())
                            && target.file(place(FAILURE_LOCATION)).orElse("").length() > 0);
        }
    }

    private static void call(Attacks attack) throws Exception {
        // The first one must have its place before there is a failure.
        call(attack, NAMES.subList(0, 1), GOOD);
        call(attack, NAMES, GOOD);
        call(attack, NAMES, BAD);
        var innocent = Collections.nCopies(INNOCENT, Map.<String, String>of());
        int accepted = call(attack, innocent, GOOD) + call(attack, innocent, BAD);
        attack.row().expect("only %d calls without names were accepted".formatted(accepted), accepted == 2 * INNOCENT);
    }

    /// @return how many were accepted
    private static int call(Attacks attack, List<Map<String, String>> all, String body) throws Exception {
        var accepted = new ArrayList<Accepted>();
        for (var names : all) {
            call(attack, names, body).ifPresent(accepted::add);
        }
        awaitObjects(attack, accepted);
        return accepted.size();
    }

    private static Optional<Accepted> call(Attacks attack, Map<String, String> names, String body) throws IOException {
        var headers = new StringBuilder(PREFIX + "Content-Type: application/json\r\n");
        names.forEach((name, value) -> headers.append("%s: %s\r\n".formatted(name, value)));
        var answer = attack.counted(attack.exchange(
                Seeds.request("POST", "/endpoints/any/async-invocations", headers.toString(), Seeds.ascii(body))));
        attack.row()
                .expect(
                        "%s was answered by %d: %s".formatted(names, answer.status(), answer.text()),
                        answer.status() == 202 || answer.status() == 400);
        if (answer.status() != 202) {
            return Optional.empty();
        }
        var accepted = new Accepted(names, body.equals(GOOD), answer);
        attack.row()
                .expect(
                        "%s has its objects outside of %s: %s".formatted(names, OUTPUT, answer.headers()),
                        accepted.isBelow(OUTPUT));
        return Optional.of(accepted);
    }

    private static void awaitObjects(Attacks attack, List<Accepted> accepted) throws InterruptedException {
        var waiting = new ArrayList<>(accepted);
        long deadline = System.nanoTime() + PATIENCE.toNanos();
        while (true) {
            waiting.removeIf(call -> call.isDone(attack.target()));
            if (waiting.isEmpty() || System.nanoTime() > deadline) {
                break;
            }
            Thread.sleep(BETWEEN);
        }
        waiting.forEach(call -> attack.row()
                .missed("%s was accepted, and has neither %s nor %s"
                        .formatted(call.names, call.place(OUTPUT_LOCATION), call.place(FAILURE_LOCATION))));
    }
}
