package dev.berth.transform;

import static org.assertj.core.api.Assertions.assertThat;

import dev.berth.hooks.BadInputException;
import dev.berth.hooks.InvocationRequest;
import dev.berth.hooks.MediaType;
import dev.berth.storage.Storage;
import dev.berth.testing.S3Server;
import dev.berth.testing.TestServer;
import dev.berth.testing.TestThreads;
import dev.berth.testing.TextHandler;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Queue;
import java.util.Random;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.Future;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// Jobs with `--split-objects`, whose instances share each object: the outputs have the same bytes
/// however many there are.
class SplitObjectsTest {

    private static final class Words extends TextHandler {
        private final Queue<String> asked = new ConcurrentLinkedQueue<>();

        @Override
        public List<String> inputFn(InvocationRequest request) throws IOException {
            var records = super.inputFn(request);
            asked.addAll(records);
            for (int i = 0; i < records.size(); i++) {
                if (records.get(i).isBlank() || records.get(i).startsWith("poison")) {
                    throw new BadInputException("line %d: found no word".formatted(i + 1));
                }
                if (records.get(i).startsWith("slow")) {
                    LockSupport.parkNanos(15_000_000);
                }
            }
            return records;
        }

        @Override
        public List<MediaType> responseTypes() {
            return List.of(MediaType.JSON_LINES, MediaType.JSON);
        }
    }

    private static final Words WORDS = new Words();
    private static TestServer container;

    @TempDir
    private Path directory;

    private TestJob job;
    private Storage storage = new Storage();

    @BeforeAll
    static void start() throws Exception {
        container = TestServer.with(WORDS).set("SAGEMAKER_BATCH", "true").start();
    }

    @AfterAll
    static void stop() throws Exception {
        WORDS.asked.clear();
        container.close();
    }

    @BeforeEach
    void prepare() throws IOException {
        WORDS.asked.clear();
        job = new TestJob(
                directory,
                "--content-type application/jsonlines --accept application/jsonlines --split-type Line --assemble-with Line --max-payload-in-mb 1 --max-concurrent-transforms 4 --bad-records keep");
    }

    private static Map<String, String> objects() {
        var random = new Random(3);
        var words = new StringBuilder();
        for (int i = 1; words.length() < 700_000; i++) {
            words.append(
                            i % 1500 == 0
                                    ? "poison"
                                    : i % 1999 == 0 ? "" : "word %d %s".formatted(i, "x".repeat(random.nextInt(200))))
                    .append('\n');
        }
        return Map.of(
                "big.txt",
                words + "and the last",
                "deep/er/crlf.txt",
                "a line of CRLF\r\n".repeat(15_000),
                "long.txt",
                ("x".repeat(200_000) + "\n").repeat(3),
                "blank.txt",
                "word\n".repeat(20_000) + "\n".repeat(50) + "word\n".repeat(20_000) + "\n".repeat(60_000),
                "one.txt",
                "x".repeat(300_000),
                "small.txt",
                "word\nword",
                "empty.txt",
                "");
    }

    @Test
    @Tag("slow")
    void anyNumberOfInstancesWritesTheSameBytesAsOne() throws Exception {
        for (var object : objects().entrySet()) {
            job.write(object.getKey(), object.getValue());
        }
        var plain = directory.resolve("plain").toString();
        assertThat(run(plain, 1, 0)).matches(JobReport::isComplete);
        var expected = files(plain);
        assertThat(expected)
                .containsOnlyKeys(
                        objects().keySet().stream().map(key -> key + ".out").toList());
        assertThat(expected.get("big.txt.out"))
                .contains("{\"error\":\"line 6000: found no word\"}")
                .endsWith("AND THE LAST\n");
        var order = new Random(5);
        for (int instances : List.of(1, 2, 8)) {
            var out = directory.resolve("out-" + instances).toString();
            job.set("--shard-by %s", instances == 2 ? "key" : "size");
            var indexes = new ArrayList<>(IntStream.range(0, instances).boxed().toList());
            Collections.shuffle(indexes, order);
            for (int index : indexes) {
                assertThat(run(out, instances, index, JobOption.SPLIT_OBJECTS)).matches(JobReport::isComplete);
            }
            assertThat(files(out)).as(out).isEqualTo(expected);
            assertThat(run(out, instances, indexes.getFirst(), JobOption.SPLIT_OBJECTS))
                    .extracting("tally.records")
                    .isEqualTo(0L);
        }
        var out = directory.resolve("at once").toString();
        assertThat(atOnce(out, 8)).allMatch(JobReport::isComplete);
        assertThat(files(out)).isEqualTo(expected);
    }

    @Test
    @Tag("slow")
    void anyNumberOfInstancesWritesTheSameObjectsInS3() throws Exception {
        try (var s3 = S3Server.start();
                var remote = Impatient.storage(s3.endpoint())) {
            storage = remote;
            s3.createBucket("jobs");
            s3.put("jobs", "in/big.txt", objects().get("big.txt"));
            // Each half is copied by S3, each eighth is too short for that.
            s3.put("jobs", "in/large.txt", ("a line that is long ".repeat(15) + "\n").repeat(40_000));
            job.set("--input s3://jobs/in/");
            assertThat(run("s3://jobs/plain", 1, 0)).matches(JobReport::isComplete);
            for (int instances : List.of(2, 8)) {
                var out = "s3://jobs/out-" + instances;
                assertThat(atOnce(out, instances)).allMatch(JobReport::isComplete);
                assertThat(s3.texts("jobs", "out-%d/".formatted(instances))).isEqualTo(s3.texts("jobs", "plain/"));
                assertThat(s3.contentType("jobs", "out-%d/large.txt.out".formatted(instances)))
                        .isEqualTo("application/jsonlines");
                assertThat(s3.unfinishedUploads("jobs")).isEmpty();
            }
        }
    }

    @Test
    @Tag("slow")
    void recordsWithoutAnIdHaveTheirObjectsNumbers() throws Exception {
        var lines = IntStream.range(0, 2000)
                .mapToObj(i -> i % 400 == 0
                        ? "no JSON"
                        : "{\"modelInput\": {\"n\": %d}, \"body\": {\"n\": %d}, \"fill\": \"%s\"}"
                                .formatted(i, i, "x".repeat(i % 400)))
                .collect(Collectors.joining("\n"));
        job = new TestJob(directory, "--max-concurrent-transforms 4");
        job.write("a.jsonl", lines);
        for (var format : List.of("bedrock", "openai")) {
            job.set("--format %s", format);
            var plain = directory.resolve(format).toString();
            assertThat(run(plain, 1, 0)).matches(JobReport::isComplete);
            assertThat(files(plain).get("a.jsonl.out")).contains("RECORD00000001", "RECORD00002000");
            var out = directory.resolve(format + "-4").toString();
            var reports = atOnce(out, 4);
            assertThat(reports.stream().mapToLong(it -> it.tally().records()).sum())
                    .isEqualTo(2000);
            assertThat(reports.stream().mapToLong(it -> it.tally().errors()).sum())
                    .isEqualTo(5);
            assertThat(files(out).get("a.jsonl.out")).isEqualTo(files(plain).get("a.jsonl.out"));
        }
        assertThat(files(directory.resolve("bedrock-4").toString()))
                .containsKeys("manifest-0-of-4.json.out", "manifest-3-of-4.json.out");
    }

    @Test
    void anInstanceThatFailsGoesOnWithinItsRangeAndJoins() throws Exception {
        job.set("--batch-strategy SingleRecord --max-concurrent-transforms 1 --bad-records reject");
        var fill = "x".repeat(700);
        var lines = IntStream.range(0, 200)
                .mapToObj(i -> (i < 100 ? "word %d " : "slow %d ").formatted(i) + fill)
                .collect(Collectors.toList());
        var good = String.join("\n", lines);
        lines.set(190, lines.get(190).replace("slow 1", "poison"));
        job.write("a.txt", String.join("\n", lines));
        var out = directory.resolve("out").toString();
        assertThat(run(out, 2, 1, JobOption.SPLIT_OBJECTS).failures())
                .singleElement()
                .satisfies(failure -> {
                    assertThat(failure.key()).matches("a\\.txt, bytes \\d+ to \\d+");
                    assertThat(failure.failure()).startsWith("record 191: ");
                });
        job.write("a.txt", good);
        assertThat(run(out, 2, 0, JobOption.SPLIT_OBJECTS)).matches(JobReport::isComplete);
        assertThat(files(out)).as("the other half is not there").doesNotContainKey("a.txt.out");
        assertThat(plan(out, 2, 0)).element(1).asString().matches("0 +1 +0\\.1  this one; 1 have their output");
        WORDS.asked.clear();
        assertThat(run(out, 2, 1, JobOption.SPLIT_OBJECTS)).matches(JobReport::isComplete);
        assertThat(WORDS.asked)
                .as("those that had no answer")
                .hasSizeLessThan(80)
                .anyMatch(line -> line.startsWith("slow 190 "))
                .noneMatch(line -> line.startsWith("slow 101 "));
        assertThat(files(out)).isEqualTo(Map.of("a.txt.out", good.toUpperCase(Locale.ROOT) + "\n"));
    }

    @Test
    void aJoinThatWasKilledIsDoneByTheNextRun() throws Exception {
        job.write("a.txt", "word\n".repeat(30_000));
        var out = directory.resolve("out");
        assertThat(run(out.toString(), 2, 0, JobOption.SPLIT_OBJECTS)).matches(JobReport::isComplete);
        var first = part(job(out.toString(), 2, 0, JobOption.SPLIT_OBJECTS));
        var bytes = Files.readAllBytes(first);
        assertThat(run(out.toString(), 2, 1, JobOption.SPLIT_OBJECTS)).matches(JobReport::isComplete);
        assertThat(first).as("removed when it was joined").doesNotExist();
        // As a process leaves it that was killed between the output and the removal.
        Files.createDirectories(first.getParent());
        Files.write(first, bytes);
        assertThat(run(out.toString(), 2, 0, JobOption.SPLIT_OBJECTS))
                .matches(report -> report.tally().skipped() == 1);
        assertThat(files(out.toString())).containsEntry("a.txt.out", "WORD\n".repeat(30_000));
        assertThat(first).as("removed by the next run").doesNotExist();
        // And between the last part and the output.
        Files.delete(out.resolve("a.txt.out"));
        assertThat(run(out.toString(), 2, 0, JobOption.SPLIT_OBJECTS))
                .matches(report -> report.tally().succeeded() == 1);
        Files.copy(first, part(job(out.toString(), 2, 1, JobOption.SPLIT_OBJECTS)));
        assertThat(run(out.toString(), 2, 0, JobOption.SPLIT_OBJECTS))
                .matches(report -> report.tally().skipped() == 1);
        assertThat(files(out.toString())).containsEntry("a.txt.out", "WORD\n".repeat(30_000));
    }

    @Test
    void anObjectThatGrowsBetweenTwoInstancesIsNoticedAndDoneAgain() throws Exception {
        for (var by : List.of("size", "key")) {
            job.set("--shard-by %s", by);
            var file = job.write("a.txt", "word\n".repeat(30_000));
            var out = directory.resolve("out-" + by).toString();
            assertThat(run(out, 2, 0, JobOption.SPLIT_OBJECTS)).matches(JobReport::isComplete);
            Files.writeString(file, "other\n".repeat(30_000));
            assertThat(run(out, 2, 1, JobOption.SPLIT_OBJECTS))
                    .extracting(JobReport::status, JobReport::problem)
                    .containsExactly(
                            JobStatus.FAILED,
                            "the input has changed: found other objects than instance 0, so some may be in nobody's part."
                                    + " Run instance 0 again");
            assertThat(files(out)).doesNotContainKey("a.txt.out");
            assertThat(run(out, 2, 0, JobOption.SPLIT_OBJECTS))
                    .matches(JobReport::isComplete)
                    .matches(report -> report.tally().succeeded() == 1);
            assertThat(files(out)).isEqualTo(Map.of("a.txt.out", "OTHER\n".repeat(30_000)));
        }
    }

    @Test
    void aPlanHasTheRanges() throws Exception {
        job.write("a.txt", "x".repeat(1_000_000));
        job.write("b.txt", "x".repeat(100));
        assertThat(plan(directory.resolve("out").toString(), 4, 0))
                .hasSize(5)
                .anyMatch(line -> line.matches("\\d +2 +0.3.*"));
    }

    private static Path part(TransformJob job) {
        try (var objects = job.source().input().list()) {
            var shares = Shares.of(job, () -> true);
            var range = job.ranges(objects.findFirst().orElseThrow()).stream()
                    .filter(shares::isMine)
                    .findFirst()
                    .orElseThrow();
            return Path.of(new SplitOutputs(job).part(range).toString());
        }
    }

    private List<String> plan(String out, int instances, int index) throws Exception {
        return JobPlan.of(job(out, instances, index, JobOption.SPLIT_OBJECTS));
    }

    private List<JobReport> atOnce(String out, int instances) throws Exception {
        var reports = new ArrayList<JobReport>();
        try (var threads = new TestThreads()) {
            var running = new ArrayList<Future<JobReport>>();
            for (int i = 0; i < instances; i++) {
                var job = job(out, instances, i, JobOption.SPLIT_OBJECTS);
                running.add(threads.submit(() -> TestJob.run(job, container.uri("/"))));
            }
            for (var each : running) {
                reports.add(each.get());
            }
        }
        return reports;
    }

    private JobReport run(String out, int instances, int index, JobOption... switches) {
        return TestJob.run(job(out, instances, index, switches), container.uri("/"));
    }

    private TransformJob job(String out, int instances, int index, JobOption... switches) {
        return job.set("--output %s --instance-count %s --instance-index %s", out, instances, index)
                .read(storage, switches);
    }

    private static Map<String, String> files(String directory) throws IOException {
        return TestJob.files(Path.of(directory));
    }
}
