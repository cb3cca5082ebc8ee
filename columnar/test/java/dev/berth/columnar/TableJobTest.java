package dev.berth.columnar;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import dev.berth.config.ConfigurationException;
import dev.berth.storage.Storage;
import dev.berth.storage.local.LocalFiles;
import dev.berth.storage.s3.RetryPolicy;
import dev.berth.storage.s3.S3;
import dev.berth.storage.s3.S3Options;
import dev.berth.transform.JobOption;
import dev.berth.transform.JobReport;
import dev.berth.transform.JobRunner;
import dev.berth.transform.JobStatus;
import dev.berth.transform.ObjectOutcome;
import dev.berth.transform.Progress;
import dev.berth.transform.TransformJob;
import java.io.IOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.IntStream;
import org.gaul.s3proxy.S3Proxy;
import org.gaul.s3proxy.auth.AuthenticationType;
import org.gaul.s3proxy.nio2blob.TransientNio2BlobStore;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// Whole jobs whose objects are tables.
class TableJobTest {

    private static final String PARQUET = "application/vnd.apache.parquet";
    private static final String LINES = "application/jsonlines";

    private static final class Unwatched implements Progress {

        @Override
        public void status(JobStatus status) {}

        @Override
        public void total(long objects, long bytes) {}

        @Override
        public void written(long records, long bytes) {}

        @Override
        public void ended(ObjectOutcome outcome, long bytes) {}
    }

    @TempDir
    private Path directory;

    @AutoClose
    private EchoContainer container;

    @BeforeEach
    void start() throws IOException {
        container = new EchoContainer();
        Files.createDirectory(directory.resolve("in"));
    }

    private Path in(String name) {
        return directory.resolve("in").resolve(name);
    }

    private Path out(String name) {
        return directory.resolve("out").resolve(name);
    }

    /// @param flags with their values, as users write them; the last of two counts
    private TransformJob job(Storage storage, String flags) {
        var all = "--input %s --output %s --content-type %s %s"
                .formatted(directory.resolve("in"), directory.resolve("out"), PARQUET, flags);
        var words = List.of(all.split(" "));
        var options = new EnumMap<JobOption, String>(JobOption.class);
        for (var option : JobOption.values()) {
            int at = words.lastIndexOf(option.flag());
            if (at >= 0) {
                options.put(option, words.get(at + 1));
            }
        }
        return TransformJob.read(storage, options, Map.of());
    }

    private JobReport run(String flags) throws Exception {
        try (var storage = new Storage()) {
            return new JobRunner(job(storage, flags), new Unwatched()).run(container.endpoint());
        }
    }

    private static List<String> rows(Path file) throws IOException {
        try (var table = new ParquetFormat().open(file)) {
            return Tables.rows(table);
        }
    }

    @Test
    void aRowGroupIsARequestOfLinesAndTheAnswersAreATable() throws Exception {
        Tables.texts(in("a"), 2, List.of("x", "xx", "xxx"));
        var report = run("");
        assertThat(report.problem()).isEmpty();
        assertThat(report.failures()).isEmpty();
        assertThat(report.tally().records()).isEqualTo(3);
        assertThat(container.requests())
                .containsExactlyInAnyOrder(
                        LINES + " {\"id\":0,\"text\":\"x\"}\n{\"id\":1,\"text\":\"xx\"}\n",
                        LINES + " {\"id\":2,\"text\":\"xxx\"}\n");
        assertThat(rows(out("a.out"))).containsExactly("{\"length\":1}", "{\"length\":2}", "{\"length\":3}");
        assertThat(run("").tally().skipped()).isEqualTo(1);
    }

    @Test
    void joinAddsColumnsAndTheInputFilterChoosesThoseThatAreSent() throws Exception {
        Tables.texts(in("a"), 2, List.of("x", "xx", "xxx"));
        assertThat(run("--join-source Input --input-filter $['text','id']").failures())
                .isEmpty();
        assertThat(container.requests()).contains(LINES + " {\"text\":\"xxx\",\"id\":2}\n");
        assertThat(rows(out("a.out")))
                .containsExactly(
                        "{\"id\":0,\"text\":\"x\",\"length\":1}",
                        "{\"id\":1,\"text\":\"xx\",\"length\":2}",
                        "{\"id\":2,\"text\":\"xxx\",\"length\":3}");
    }

    @Test
    void answersCanBeLinesToo() throws Exception {
        Tables.texts(in("a"), 2, List.of("x", "xx"));
        assertThat(run("--accept " + LINES + " --join-source Input").failures()).isEmpty();
        assertThat(out("a.out")).hasContent("""
        {"id":0,"text":"x","SageMakerOutput":{"length":1}}
        {"id":1,"text":"xx","SageMakerOutput":{"length":2}}
        """);
    }

    @Test
    void aBadRowFailsItsObjectOrHasAnError() throws Exception {
        Tables.texts(in("a"), 3, List.of("x", "bad", "xxx"));
        Tables.texts(in("b"), 3, List.of("x"));
        var report = run("");
        assertThat(report.tally().succeeded()).isEqualTo(1);
        assertThat(report.failures())
                .singleElement()
                .asString()
                .contains("a")
                .contains("records 1 to 3: status 400: found bad");
        assertThat(out("a.out")).doesNotExist();
        report = run("--bad-records keep --join-source Input");
        assertThat(report.failures()).isEmpty();
        assertThat(report.tally().errors()).isEqualTo(1);
        assertThat(rows(out("a.out")))
                .containsExactly(
                        "{\"id\":0,\"text\":\"x\",\"length\":1,\"error\":null}",
                        "{\"id\":1,\"text\":\"bad\",\"length\":null,\"error\":\"line 2: found bad\"}",
                        "{\"id\":2,\"text\":\"xxx\",\"length\":3,\"error\":null}");
    }

    @Test
    void whatIsWrongWithOneTableFailsThatOneOnly() throws Exception {
        Tables.texts(in("good"), 2, List.of("x"));
        Tables.texts(in("lost"), 2, List.of("lost", "x"));
        Tables.texts(in("twice"), 2, List.of("twice", "x"));
        Files.writeString(in("text"), "{\"text\":\"x\"}\n");
        Tables.texts(in("wide"), 2, List.of("x".repeat(1 << 20)));
        Tables.texts(in("none"), 2, List.of());
        var report = run("--max-payload-in-mb 1");
        assertThat(report.tally().succeeded()).isEqualTo(2);
        assertThat(report.failures())
                .map(ObjectOutcome::toString)
                .anyMatch(failure ->
                        failure.contains("lost") && failure.contains("found 1 line, expected 2, one for each record"))
                .anyMatch(failure -> failure.contains("text")
                        && failure.contains("it can't be read: Parquet: it is not a Parquet file"))
                .anyMatch(failure ->
                        failure.contains("row 1: found 1048595 bytes as JSON, expected at most 1048576 in one record"))
                .anyMatch(failure -> failure.contains(
                        "no table can be made of the answers: found 3 answers, expected 2, one for each row"))
                .hasSize(4);
        assertThat(rows(out("none.out"))).isEmpty();
        assertThat(out("lost.out")).doesNotExist();
    }

    @Test
    void aTableGoesOnWhereItFailed() throws Exception {
        Tables.texts(in("a"), 1, List.of("x", "lost"));
        assertThat(run("").failures()).hasSize(1);
        container.requests().clear();
        container.remember();
        assertThat(run("").failures()).isEmpty();
        assertThat(container.requests()).containsExactly(LINES + " {\"id\":1,\"text\":\"lost\"}\n");
        assertThat(rows(out("a.out"))).containsExactly("{\"length\":1}", "{\"length\":4}");
    }

    @Test
    void arrowTablesAreAnsweredByArrowTables() throws Exception {
        for (var format : List.of(new ArrowFileFormat(), new ArrowStreamFormat())) {
            var name = format instanceof ArrowFileFormat ? "every-type.arrow" : "every-type.arrows";
            Files.copy(Tables.resource(name), in(name));
            var flags = "--content-type %s --input %s --input-filter $['id','text']".formatted(format.type(), in(name));
            assertThat(run(flags).failures()).isEmpty();
            assertThat(container.requests()).contains(LINES + " {\"id\":3,\"text\":null}\n");
            try (var table = format.open(out(name + ".out"))) {
                assertThat(Tables.rows(table)).containsExactly("{\"length\":9}", "{\"length\":3}", "{\"length\":4}");
            }
        }
    }

    @Test
    void tablesOfS3AreAnsweredInS3() throws Exception {
        var buckets = new TransientNio2BlobStore();
        var s3 = S3Proxy.builder()
                .blobStore(buckets)
                .endpoint(URI.create("http://127.0.0.1:0"))
                .awsAuthentication(AuthenticationType.NONE, null, null)
                .stopTimeout(0)
                .build();
        s3.start();
        var endpoint = new S3Options(
                Optional.of(URI.create("http://127.0.0.1:" + s3.getPort())),
                true,
                Optional.empty(),
                true,
                RetryPolicy.DEFAULT);
        var stores = Map.of("s3", S3.open(endpoint), "file", new LocalFiles().open(_ -> Optional.empty()));
        try (var storage = new Storage(stores)) {
            buckets.createContainer("bucket");
            try (var object = storage.at("s3://bucket/in/a").create(Optional.of(PARQUET))) {
                Files.copy(Tables.texts(in("a"), 2, List.of("x", "xx", "xxx")), object);
                object.commit();
            }
            var job = job(storage, "--input s3://bucket/in/ --output s3://bucket/out --join-source Input");
            var report = new JobRunner(job, new Unwatched()).run(container.endpoint());
            assertThat(report.problem()).isEmpty();
            assertThat(report.failures()).isEmpty();
            try (var output = storage.at("s3://bucket/out/a.out").open()) {
                Files.copy(output, directory.resolve("fetched"));
            }
        } finally {
            s3.stop();
        }
        assertThat(rows(directory.resolve("fetched"))).hasSize(3).endsWith("{\"id\":2,\"text\":\"xxx\",\"length\":3}");
    }

    @Test
    void aTableCanBeSentWhole() throws Exception {
        Tables.texts(in("a"), 2, List.of("x"));
        run("--request-content-type " + PARQUET + " --accept " + LINES);
        assertThat(container.requests()).singleElement().asString().startsWith(PARQUET + " PAR1");
    }

    @Test
    void rowGroupsLargerThanARequestAreSentInSeveral() throws Exception {
        Tables.texts(
                in("a"),
                100,
                IntStream.range(0, 100).mapToObj(i -> "x".repeat(30_000)).toList());
        var report = run("--max-payload-in-mb 1 --max-concurrent-transforms 4");
        assertThat(report.failures()).isEmpty();
        assertThat(container.requests()).hasSize(3);
        assertThat(rows(out("a.out"))).hasSize(100).containsOnly("{\"length\":30000}");
    }

    /// With a heap of 512 MiB for all tests.
    @Test
    void aTableOfManyRowsKeepsTheirOrder() throws Exception {
        int rows = 100_000;
        Tables.texts(
                in("a"),
                10_000,
                IntStream.range(0, rows).mapToObj(i -> "x".repeat(i % 100)).toList());
        var report = run("--max-concurrent-transforms 4 --join-source Input");
        assertThat(report.failures()).isEmpty();
        assertThat(report.tally().records()).isEqualTo(rows);
        assertThat(rows(out("a.out")))
                .isEqualTo(IntStream.range(0, rows)
                        .mapToObj(i ->
                                "{\"id\":%d,\"text\":\"%s\",\"length\":%d}".formatted(i, "x".repeat(i % 100), i % 100))
                        .toList());
    }

    @Test
    void whatMeansNothingForTablesIsRefused() {
        var problems = problems(
                "--split-type Line --assemble-with Line --compression-type Gzip --accept text/csv"
                        + " --request-content-type text/csv --join-source Input --output-filter $['length'] --split-objects true");
        assertThat(problems)
                .map(problem -> problem.substring(0, problem.indexOf(':')))
                .map(name -> name.split(" ")[0])
                .containsExactlyInAnyOrder(
                        "--request-content-type",
                        "--accept",
                        "--split-type",
                        "--assemble-with",
                        "--compression-type",
                        "--compression-type",
                        "--output-filter",
                        "--content-type");
        assertThat(problems)
                .anyMatch(problem -> problem.endsWith(
                        "found text/csv, expected " + PARQUET + " or " + LINES + " where the objects are tables"));
        assertThat(problems("--content-type text/csv --request-content-type " + LINES))
                .singleElement()
                .asString()
                .startsWith("--request-content-type: found application/jsonlines, expected it with one of " + PARQUET);
    }

    private List<String> problems(String flags) {
        return catchThrowableOfType(ConfigurationException.class, () -> job(new Storage(), flags))
                .problems();
    }
}
