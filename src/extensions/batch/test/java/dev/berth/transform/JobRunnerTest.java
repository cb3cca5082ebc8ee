package dev.berth.transform;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import dev.berth.content.RecordIo;
import dev.berth.content.TfRecord;
import dev.berth.hooks.BadInputException;
import dev.berth.hooks.InvocationRequest;
import dev.berth.testing.Gzipped;
import dev.berth.testing.TestServer;
import dev.berth.testing.TextHandler;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/// Jobs on files, against a real server whose model writes lines in upper case.
class JobRunnerTest {

    /// Fails for the word `bad`, and twice for each text that begins with `flaky`.
    private static final class Words extends TextHandler {
        final List<String> bodies = new CopyOnWriteArrayList<>();
        final Map<String, AtomicInteger> attempts = new ConcurrentHashMap<>();

        /// What happens once while a request is answered.
        volatile Change meanwhile = () -> {};

        @Override
        public List<String> inputFn(InvocationRequest request) throws IOException {
            var change = meanwhile;
            meanwhile = () -> {};
            change.make();
            var records = super.inputFn(request);
            bodies.add(String.join("\n", records));
            for (var record : records) {
                if (record.equals("bad")) {
                    throw new BadInputException("word: found bad, expected a better one");
                }
                if (record.startsWith("flaky")
                        && attempts.computeIfAbsent(record, _ -> new AtomicInteger())
                                        .incrementAndGet()
                                < 3) {
                    throw new IllegalStateException("not yet");
                }
            }
            return records;
        }
    }

    private interface Change {
        void make() throws IOException;
    }

    private static final Words WORDS = new Words();

    @AutoClose
    private static TestServer server;

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
        WORDS.attempts.clear();
        Files.createDirectory(directory.resolve("in"));
        job = new TestJob(
                directory,
                "--content-type text/plain --accept text/plain --split-type Line --assemble-with Line --max-concurrent-transforms 8");
    }

    @Test
    @Tag("slow")
    @Tag("BAT-07")
    @Tag("BAT-10")
    @Tag("BAT-20")
    void eachObjectHasALineForEachRecordInItsOrder() throws Exception {
        var words = IntStream.range(0, 5000).mapToObj(i -> "word-" + i).toList();
        job.write("a.txt", String.join("\n", words));
        job.write("deep/er/b.txt", "one\ntwo\n");
        job.write("empty.txt", "");
        job.set("--batch-strategy SingleRecord");
        var report = run();
        assertThat(report)
                .matches(JobReport::isComplete)
                .extracting("tally.objects", "tally.succeeded", "tally.records")
                .containsExactly(3L, 3L, 5002L);
        assertThat(job.output("a.txt"))
                .isEqualTo(words.stream()
                        .map(word -> word.toUpperCase(Locale.ROOT) + "\n")
                        .collect(Collectors.joining()));
        assertThat(job.output("deep/er/b.txt")).isEqualTo("ONE\nTWO\n");
        assertThat(job.output("empty.txt")).isEmpty();
        assertThat(WORDS.bodies).hasSize(5002);
    }

    @Test
    @Tag("BAT-19")
    void aRequestHoldsAsManyRecordsAsFit() throws Exception {
        var line = "x".repeat(1023) + "\n";
        job.write("a.txt", line.repeat(3000));
        job.set("--max-payload-in-mb 1");
        assertThat(run().tally().records()).isEqualTo(3000);
        assertThat(WORDS.bodies).hasSize(3);
        assertThat(job.output("a.txt")).isEqualTo(line.toUpperCase(Locale.ROOT).repeat(3000));
        job.write("long.txt", "y".repeat(2 << 20));
        assertThat(Unwatched.failure(run())).contains("record 1");
    }

    @Test
    @Tag("BAT-21")
    void anObjectThatFailsHasNoOutputAndTheOthersHaveTheirs() throws Exception {
        job.write("a.txt", "one\n");
        job.write("b.txt", "one\ntwo\nbad\n");
        job.write("c.txt", "three\n");
        job.set("--batch-strategy SingleRecord");
        var report = run();
        assertThat(report.isComplete()).isFalse();
        assertThat(report.failures()).singleElement().satisfies(failure -> {
            assertThat(failure.key()).isEqualTo("b.txt");
            assertThat(failure.failure()).isEqualTo("record 3: status 400: word: found bad, expected a better one");
        });
        assertThat(outputs()).containsOnlyKeys("a.txt.out", "c.txt.out");
        assertThat(WORDS.bodies.stream().filter("bad"::equals))
                .as("a bad request is not sent again")
                .hasSize(1);
    }

    @Test
    @Tag("BAT-17")
    void whatFailsForAWhileIsSentAgain() throws Exception {
        job.write("a.txt", "flaky-1\nflaky-2\nfine\n");
        job.set("--batch-strategy SingleRecord");
        assertThat(run().isComplete()).isTrue();
        assertThat(job.output("a.txt")).isEqualTo("FLAKY-1\nFLAKY-2\nFINE\n");
        WORDS.attempts.clear();
        job.set("--invocations-max-retries 1");
        job.write("b.txt", "flaky-3\n");
        assertThat(Unwatched.failure(run())).contains("status 500: inputFn failed: not yet");
    }

    @Test
    void whatIsDoneIsSkippedUnlessItIsToBeOverwritten() throws Exception {
        job.write("a.txt", "one\n");
        job.write("b.txt", "two\n");
        assertThat(run().tally().succeeded()).isEqualTo(2);
        job.write("a.txt", "new\n");
        Files.delete(directory.resolve("out/b.txt.out"));
        assertThat(run()).extracting("tally.succeeded", "tally.skipped").containsExactly(1L, 1L);
        assertThat(outputs()).containsEntry("a.txt.out", "ONE\n").containsEntry("b.txt.out", "TWO\n");
        assertThat(run(JobOption.OVERWRITE).tally().succeeded()).isEqualTo(2);
        assertThat(job.output("a.txt")).isEqualTo("NEW\n");
    }

    @Test
    @Tag("BAT-22")
    void aManifestNamesTheObjects() throws Exception {
        job.write("x", "one");
        job.write("y", "two");
        job.write("z", "three");
        var manifest =
                job.write("manifest.json", "[{\"prefix\": \"%s/\"}, \"x\", \"y\"]".formatted(directory.resolve("in")));
        job.set("--input %s --data-type ManifestFile", manifest);
        assertThat(run().isComplete()).isTrue();
        assertThat(outputs()).containsOnlyKeys("x.out", "y.out");
        Files.writeString(manifest, "{}");
        assertThat(run().problem()).contains("found no manifest");
        Files.writeString(manifest, "[{\"prefix\": \"%s/\"}, \"z\", \"z\"]".formatted(directory.resolve("in")));
        assertThat(Unwatched.failure(run(JobOption.OVERWRITE)))
                .as("of two names alike the second is not lost in silence")
                .isEqualTo(directory.resolve("out/z.out") + " would be written twice");
        assertThat(job.output("z")).isEqualTo("THREE\n");
        Files.writeString(manifest, "[{\"prefix\": \"s3://b/\"}, 7]");
        assertThat(run().problem()).contains("[1]: found 7, expected a name");
        Files.writeString(manifest, "[{\"prefix\": \"s3://b/\"}]]");
        assertThat(run().problem()).contains("found no manifest: ");
    }

    /// Lists on lines of their own, and the elements of one, as Python's `jsonlines` writes them.
    @ParameterizedTest
    @ValueSource(
            strings = {
                "[{\"prefix\": \"IN/\"}, \"x\"]\n[{\"prefix\": \"IN/deep/\"}, \"y\"]\n",
                "{\"prefix\": \"IN/\"}\n\"x\"\n{\"prefix\": \"IN/deep/\"}\n\"y\""
            })
    void aManifestMayHaveSeveralLines(String text) throws Exception {
        job.write("x", "one");
        job.write("deep/y", "two");
        var manifest =
                job.write("manifest", text.replace("IN", directory.resolve("in").toString()));
        job.set("--input %s --data-type ManifestFile", manifest);
        assertThat(run().isComplete()).isTrue();
        assertThat(outputs()).containsOnlyKeys("x.out", "y.out");
    }

    @Test
    @Tag("BAT-23")
    void gzipIsUnpacked() throws Exception {
        Files.write(directory.resolve("in/a.gz"), Gzipped.packed("one\ntwo\n".getBytes(UTF_8)));
        job.write("plain.txt", "one\n");
        job.set("--compression-type Gzip");
        var report = run();
        assertThat(job.output("a.gz")).isEqualTo("ONE\nTWO\n");
        assertThat(Unwatched.failure(report)).contains("not whole gzip");
    }

    @Test
    void anObjectThatIsNotSplitIsOneRequestOfAnyLength() throws Exception {
        job.set("--split-type None --assemble-with None");
        for (var payload : List.of("0", "6")) {
            job.set("--max-payload-in-mb %s", payload);
            job.write("a.txt", "one\ntwo");
            assertThat(run(JobOption.OVERWRITE).isComplete()).isTrue();
            assertThat(job.output("a.txt")).isEqualTo("ONE\nTWO");
        }
    }

    @Test
    @Tag("BAT-13")
    @Tag("BAT-14")
    void binaryRecordsLoseTheirFramesWhenEachIsARequest() throws Exception {
        var records = List.of("one".getBytes(UTF_8), "two".getBytes(UTF_8));
        job.set("--batch-strategy SingleRecord");
        for (var type : List.of("RecordIO", "TFRecord")) {
            var framed = type.equals("RecordIO") ? RecordIo.write(records) : TfRecord.write(records);
            Files.write(directory.resolve("in/a"), framed);
            assertThat(job.set("--split-type %s", type).run(server.uri("/"), JobOption.OVERWRITE))
                    .matches(JobReport::isComplete);
            assertThat(job.output("a")).isEqualTo("ONE\nTWO\n");
        }
    }

    @Test
    void aFileThatChangesWhileItIsReadFailsAndIsDoneByTheNextRun() throws Exception {
        var line = "x".repeat(1023) + "\n";
        job.set("--max-payload-in-mb 1 --max-concurrent-transforms 1");
        for (int change : List.of(-4 << 20, "half a li".length())) {
            var file = job.write("a.txt", line.repeat(16 << 10));
            WORDS.meanwhile = () -> {
                try (var open = FileChannel.open(file, StandardOpenOption.WRITE)) {
                    long size = open.size() + change;
                    if (change < 0) {
                        open.truncate(size);
                    } else {
                        open.write(UTF_8.encode("half a li"), open.size());
                    }
                }
            };
            // Without what a slow run of the file before it has kept, or nothing would be asked.
            assertThat(Unwatched.failure(run(JobOption.OVERWRITE)))
                    .isEqualTo("%s: changed while it was read: found %d bytes, expected %d"
                            .formatted(file, (16 << 20) + change, 16 << 20));
            assertThat(outputs()).isEmpty();
        }
        assertThat(run()).matches(JobReport::isComplete);
        assertThat(job.output("a.txt")).hasSize((16 << 20) + "half a li\n".length());
    }

    @Test
    @Tag("JOIN-03")
    void answersAreJoinedWithTheirRecords() throws Exception {
        job.set("--content-type text/csv --accept text/csv --input-filter $[1] --join-source Input");
        job.write("a.csv", "7,one\n8,two\n");
        assertThat(run().isComplete()).isTrue();
        assertThat(job.output("a.csv")).isEqualTo("7,one,ONE\n8,two,TWO\n");
        // The API allows empty ones.
        job.set("--input-filter %s --output-filter %s", "", "");
        assertThat(run(JobOption.OVERWRITE).isComplete()).isTrue();
        assertThat(job.output("a.csv")).isEqualTo("7,one,7,ONE\n8,two,8,TWO\n");
    }

    @Test
    void anInputThatIsEmptyOrNotThereEndsTheJob() throws Exception {
        for (var input : List.of(directory.resolve("in"), directory.resolve("none"))) {
            assertThat(job.set("--input %s", input).run(server.uri("/")))
                    .extracting(JobReport::status, JobReport::problem)
                    .containsExactly(
                            JobStatus.FAILED,
                            input
                                    + ": found no object, expected one at least; --input names a file, a directory with files or s3://…");
        }
    }

    private Map<String, String> outputs() throws IOException {
        var all = job.outputs();
        all.keySet().removeIf(file -> file.startsWith(".berth-parts"));
        return all;
    }

    private JobReport run(JobOption... switches) {
        return job.run(server.uri("/"), switches);
    }
}
