package dev.berth.transform.command;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.berth.testing.S3Server;
import dev.berth.testing.ServeProcess;
import dev.berth.testing.TestServer;
import dev.berth.testing.TextHandler;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// `./transform` in a process that is killed at random moments and started again, until it comes to
/// its end. The model is in this process, and counts what it is asked.
@Tag("packaged")
class KilledJobTest {

    /// 128 and the number of SIGKILL.
    private static final int KILLED = 137;

    private static final int KILLS = 5;

    private static final int SLOTS = 2;

    /// The objects by their numbers of records. Each record is a mini-batch.
    private static final List<Integer> OBJECTS = List.of(1, 3, 20, 1, 900, 40, 1, 1);

    /// The model is asked so much between two kills: at least, which takes it some seconds, and at most.
    private static final int LEAST_BETWEEN_KILLS = 150;

    private static final int MOST_BETWEEN_KILLS = 180;

    private static final int MILLIS_FOR_A_RECORD = 30;

    /// In a second, which is how often answers are kept, and on their way when the job is killed.
    private static final int MOST_LOST = SLOTS * (1000 / MILLIS_FOR_A_RECORD + 2);

    @TempDir
    private Path directory;

    /// To repeat a failure, put the seed that it names here.
    private final long seed = new Random().nextLong();

    private final Random random = new Random(seed);
    private final AtomicInteger asked = new AtomicInteger();
    private final Map<String, String> expected = new TreeMap<>();

    @AutoClose
    private TestServer container;

    @BeforeEach
    void start() throws Exception {
        container = TestServer.with(new TextHandler() {
                    @Override
                    public List<String> predictFn(List<String> words, Object model) throws Exception {
                        asked.addAndGet(words.size());
                        Thread.sleep(MILLIS_FOR_A_RECORD);
                        return super.predictFn(words, model);
                    }
                })
                .start("SAGEMAKER_BATCH=true");
        for (int i = 0; i < OBJECTS.size(); i++) {
            int object = i;
            expected.put(
                    "%d.txt".formatted(i),
                    IntStream.range(0, OBJECTS.get(i))
                            .mapToObj(record -> "WORD %d OF %d\n".formatted(record, object))
                            .collect(Collectors.joining()));
        }
    }

    @Test
    void aJobOnFilesAsksAgainForItsLastSecondOnly() throws Exception {
        var in = Files.createDirectory(directory.resolve("in"));
        for (var object : expected.entrySet()) {
            Files.writeString(in.resolve(object.getKey()), object.getValue().toLowerCase(Locale.ROOT));
        }
        var out = directory.resolve("out");
        isDoneInTheEnd(Map.of(), "--input %s --output %s".formatted(in, out));
        assertThat(contents(out))
                .as("seed %d; and nothing else, such as leftovers", seed)
                .isEqualTo(named(expected));
        int records = OBJECTS.stream().mapToInt(Integer::intValue).sum();
        assertThat(asked.get()).as("seed %d", seed).isBetween(records, records + KILLS * MOST_LOST);
    }

    @Test
    void aJobInS3EndsAsIfItHadNotBeenKilled() throws Exception {
        try (var s3 = S3Server.start().createBucket("killed")) {
            expected.forEach((key, text) -> s3.put("killed", "in/" + key, text.toLowerCase(Locale.ROOT)));
            var environment = Map.of(
                    "AWS_ACCESS_KEY_ID", S3Server.credentials().getFirst().value(),
                    "AWS_SECRET_ACCESS_KEY", S3Server.credentials().getLast().value());
            isDoneInTheEnd(
                    environment,
                    "--endpoint-url %s --input s3://killed/in/ --output s3://killed/out".formatted(s3.endpoint()));
            assertThat(s3.texts("killed", "out/"))
                    .as("seed %d; and nothing else, such as leftovers", seed)
                    .isEqualTo(named(expected));
            assertThat(s3.unfinishedUploads("killed")).isEmpty();
        }
    }

    private void isDoneInTheEnd(Map<String, String> environment, String flags) throws Exception {
        int killed = 0;
        while (killed < KILLS && isKilled(environment, flags)) {
            killed++;
        }
        assertThat(killed).as("seed %d: it is not done before", seed).isEqualTo(KILLS);
        try (var job = transform(environment, flags)) {
            assertThat(job.exitCode()).as("seed %d: %s", seed, job.err()).isZero();
            assertThat(job.out())
                    .containsPattern("objects +%d\n".formatted(OBJECTS.size()))
                    .containsPattern("failed +0\n");
        }
    }

    /// Kills a job at a random moment between the start of its process and the answers to some
    /// records.
    private boolean isKilled(Map<String, String> environment, String flags) throws Exception {
        int enough = asked.get() + random.nextInt(LEAST_BETWEEN_KILLS, MOST_BETWEEN_KILLS);
        try (var job = transform(environment, flags)) {
            await().pollInterval(Duration.ofMillis(1 + random.nextInt(10)))
                    .until(() -> !job.process().isAlive() || asked.get() >= enough);
            job.process().destroyForcibly();
            int code = job.exitCode();
            assertThat(code).as("seed %d: %s", seed, job.err()).isIn(0, KILLED);
            return code == KILLED;
        }
    }

    private ServeProcess transform(Map<String, String> environment, String flags) throws IOException {
        var variables = new HashMap<>(environment);
        // It lives too briefly for more.
        variables.put("JAVA_OPTS", "-XX:TieredStopAtLevel=1");
        var command = "%s --endpoint %s --report %s --max-concurrent-transforms %d %s --content-type text/plain"
                        .formatted(
                                Path.of("transform").toAbsolutePath(),
                                container.uri(""),
                                directory.resolve("report.json"),
                                SLOTS,
                                flags)
                + " --accept text/plain --split-type Line --assemble-with Line --batch-strategy SingleRecord";
        return ServeProcess.start(variables, List.of(command.split(" ")));
    }

    private static Map<String, String> named(Map<String, String> objects) {
        return objects.entrySet().stream()
                .collect(Collectors.toMap(object -> object.getKey() + ".out", Map.Entry::getValue));
    }

    /// All files, hidden ones and those of directories too.
    private static Map<String, String> contents(Path directory) throws IOException {
        var all = new TreeMap<String, String>();
        try (var files = Files.walk(directory)) {
            for (var file : files.filter(path -> !path.equals(directory)).toList()) {
                all.put(
                        directory.relativize(file).toString(),
                        Files.isDirectory(file) ? "a directory" : Files.readString(file));
            }
        }
        return all;
    }
}
