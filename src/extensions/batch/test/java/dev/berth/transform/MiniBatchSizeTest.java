package dev.berth.transform;

import static org.assertj.core.api.Assertions.assertThat;

import dev.berth.hooks.InvocationRequest;
import dev.berth.hooks.MediaType;
import dev.berth.testing.Gate;
import dev.berth.testing.TestServer;
import dev.berth.testing.TestThreads;
import dev.berth.testing.TextHandler;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/// Jobs over a small file that leave open how large requests are, against a real server whose model
/// writes lines in upper case.
class MiniBatchSizeTest {

    private static final class Words extends TextHandler {
        final ConcurrentLinkedQueue<List<String>> bodies = new ConcurrentLinkedQueue<>();
        volatile Gate gate;

        @Override
        public List<String> inputFn(InvocationRequest request) throws IOException {
            var records = super.inputFn(request);
            bodies.add(records);
            return records;
        }

        @Override
        public List<String> predictFn(List<String> records, Object model) throws Exception {
            if (records.contains("\"stop\"")) {
                gate.pass();
            }
            return super.predictFn(records, model);
        }

        @Override
        public List<MediaType> responseTypes() {
            return List.of(MediaType.JSON, MediaType.JSON_LINES, MediaType.CSV);
        }
    }

    private static final Words WORDS = new Words();

    @AutoClose
    private static TestServer server;

    @AutoClose
    private final TestThreads threads = new TestThreads();

    @TempDir
    private Path directory;

    private TestJob job;

    @BeforeAll
    static void start() throws Exception {
        server = TestServer.with(WORDS).set("SAGEMAKER_BATCH", "true").start();
    }

    @BeforeEach
    void prepare() throws Exception {
        WORDS.bodies.clear();
        Files.createDirectory(directory.resolve("in"));
        job = new TestJob(directory, "--split-type Line --assemble-with Line --max-concurrent-transforms 2");
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
        application/jsonlines | "w#"              | ""                                      | "W#"
        application/jsonlines | {"id":#,"w":"w#"} | --input-filter $['w'] --join-source Input | {"id":#,"w":"w#","SageMakerOutput":"W#"}
        text/csv              | #,w#              | ""                                      | #,W#
        text/csv              | #,w#              | --input-filter $[1] --join-source Input | #,w#,W#
        """, quoteCharacter = '~')
    void severalRequestsMakeTheSameOutputAsOne(String type, String record, String flags, String answer)
            throws Exception {
        job.write("a", lines(record));
        job.set("--content-type %s --accept %s", type, type);
        if (!flags.equals("\"\"")) {
            job.set(flags);
        }
        job.set("--max-payload-in-mb 6");
        assertThat(run(new Watched(), JobOption.OVERWRITE)).matches(JobReport::isComplete);
        assertThat(WORDS.bodies).hasSize(1);
        assertThat(job.output("a")).isEqualTo(lines(answer));

        WORDS.bodies.clear();
        job.without(JobOption.MAX_PAYLOAD_IN_MB);
        var progress = new Watched();
        assertThat(run(progress, JobOption.OVERWRITE)).matches(JobReport::isComplete);
        assertThat(WORDS.bodies).hasSizeGreaterThan(1);
        assertThat(job.output("a")).isEqualTo(lines(answer));
        assertThat(progress.records).hasSameSizeAs(WORDS.bodies).allMatch(count -> count < 100);
        assertThat(progress.bytes.stream().mapToLong(each -> each).sum())
                .isEqualTo(lines(record).length());
        assertThat(progress.bytes.getFirst())
                .as("not what was read ahead")
                .isLessThan(lines(record).length() / 2L);
    }

    @Test
    @Tag("slow")
    void aJobThatIsStoppedInAFileGoesOnThere() throws Exception {
        WORDS.gate = new Gate(1);
        var text = lines("\"w#\"").replace("\"w60\"", "\"stop\"");
        job.write("a", text);
        job.set("--content-type application/jsonlines --accept application/jsonlines");
        var runner = new JobRunner(job.read(), new Unwatched());
        var report = CompletableFuture.supplyAsync(() -> TestJob.run(runner, server.uri("/")), threads);
        WORDS.gate.awaitArrival();
        runner.stop();
        assertThat(report.get())
                .extracting("status", "problem")
                .containsExactly(
                        JobStatus.STOPPED,
                        "stopped by a signal; the same command, without --overwrite, goes on from there");
        assertThat(directory.resolve("out/a.out")).doesNotExist();

        WORDS.gate.open();
        WORDS.bodies.clear();
        assertThat(run(new Watched())).matches(JobReport::isComplete);
        assertThat(WORDS.bodies.stream().flatMap(List::stream))
                .contains("\"stop\"")
                .doesNotContain("\"w1\"", "\"w8\"");
        assertThat(job.output("a")).isEqualTo(text.toUpperCase(Locale.ROOT));
        assertThat(job.outputs().keySet()).containsExactly("a.out");
    }

    @Test
    void aRequestHasAsManyRecordsAsAreAnsweredInAboutASecond() {
        var miniBatchSize = new MiniBatchSize(true);
        int first = miniBatchSize.mostRecords();
        answered(miniBatchSize, first, 100);
        assertThat(miniBatchSize.mostRecords()).isEqualTo(2 * first);
        answered(miniBatchSize, first, 100);
        assertThat(miniBatchSize.mostRecords()).as("one of before").isEqualTo(2 * first);
        answered(miniBatchSize, 2 * first, 1000);
        assertThat(miniBatchSize.mostRecords()).isEqualTo(2 * first);
        answered(miniBatchSize, 2 * first, 3000);
        assertThat(miniBatchSize.mostRecords()).isEqualTo(first);
        answered(miniBatchSize, 1, 600_000);
        assertThat(miniBatchSize.mostRecords()).isEqualTo(1);
        var fixed = new MiniBatchSize(false);
        answered(fixed, 1000, 600_000);
        assertThat(fixed.mostRecords()).isEqualTo(Integer.MAX_VALUE);
    }

    /// The records of each request, and their bytes in the object.
    private static final class Watched implements Progress {
        final List<Long> records = new ArrayList<>();
        final List<Long> bytes = new ArrayList<>();

        @Override
        public void status(JobStatus status) {}

        @Override
        public void total(long objects, long bytes) {}

        @Override
        public void written(long records, long bytes) {
            this.records.add(records);
            this.bytes.add(bytes);
        }

        @Override
        public void ended(ObjectOutcome outcome, long bytes) {}
    }

    private static void answered(MiniBatchSize miniBatchSize, int records, long millis) {
        miniBatchSize.answered(records, Duration.ofMillis(millis).toNanos());
    }

    /// A hundred lines.
    private static String lines(String record) {
        return IntStream.rangeClosed(1, 100)
                .mapToObj(i -> record.replace("#", String.valueOf(i)) + "\n")
                .collect(Collectors.joining());
    }

    private JobReport run(Progress progress, JobOption... switches) {
        return TestJob.run(new JobRunner(job.read(switches), progress), server.uri("/"));
    }
}
