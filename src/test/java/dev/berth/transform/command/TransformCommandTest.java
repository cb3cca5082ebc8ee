package dev.berth.transform.command;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.berth.testing.ServeProcess;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// `./transform` in a process of its own, as a user runs it. `JobRunnerTest` is about what becomes
/// of the objects, [KilledJobTest] about processes that are killed.
@Tag("packaged")
class TransformCommandTest {

    private static final ObjectMapper JSON = new ObjectMapper();
    private static final Map<String, String> ENVIRONMENT = Map.of("INSTANCE_TYPE", "cpu");

    private static final String MNIST = "examples/mnist";
    private static final String RECOMMENDER = "examples/recommender";

    private static final String LINES = "--input %s --output %s --report %s --content-type application/jsonlines"
            + " --accept application/jsonlines --split-type Line --assemble-with Line ";

    private static final String QUERY = "{\"user_id\": \"114521\", \"k\": 3}\n";

    @TempDir
    private Path directory;

    private Path in;
    private Path out;
    private Path report;

    @BeforeEach
    void prepare() throws IOException {
        in = Files.createDirectory(directory.resolve("in"));
        out = directory.resolve("out");
        report = directory.resolve("report.json");
    }

    @Test
    void picturesAreRecognizedEachInAFileOfItsOwn() throws Exception {
        try (var job = transform(
                "--model-dir %s --input examples/mnist/digits --output %s --content-type application/x-image --report %s",
                MNIST, out, report)) {
            assertThat(job.exitCode()).as(job.err()).isZero();
            assertThat(job.out())
                    .containsPattern("objects +40\n")
                    .containsPattern("succeeded +40\n")
                    .containsPattern("failed +0\n");
            assertThat(job.err()).isEmpty();
        }
        var outputs = files(out);
        assertThat(outputs).hasSize(40);
        outputs.forEach((name, text) -> assertThat(text).as(name).matches("\\{\"predictions\":[0-9]}"));
        // The first of each name is the digit that it shows.
        assertThat(outputs.entrySet().stream()
                        .filter(entry ->
                                entry.getValue().contains(":" + entry.getKey().charAt(0) + "}")))
                .as("those that are recognized")
                .hasSizeGreaterThan(36);
        assertThat(report().path("objects").asInt()).isEqualTo(40);
        assertThat(report().path("complete").asBoolean()).isTrue();
    }

    @Test
    void aJobIsReadFromTheJsonOfItsCall() throws Exception {
        Files.writeString(in.resolve("a.jsonl"), QUERY.repeat(5));
        var file = Files.writeString(directory.resolve("job.json"), """
        {
          "TransformJobName": "recommendations",
          "ModelName": "recommender",
          "BatchStrategy": "MultiRecord",
          "MaxPayloadInMB": 1,
          "TransformInput": {
            "DataSource": {"S3DataSource": {"S3DataType": "S3Prefix", "S3Uri": "%s"}},
            "ContentType": "application/jsonlines",
            "SplitType": "Line"
          },
          "TransformOutput": {
            "S3OutputPath": "%s", "Accept": "application/jsonlines", "AssembleWith": "Line"
          },
          "TransformResources": {"InstanceType": "ml.m5.large", "InstanceCount": 1},
          "DataProcessing": {
            "InputFilter": "$", "OutputFilter": "$['user_id','SageMakerOutput']", "JoinSource": "Input"
          }
        }
        """.formatted(in, out));
        try (var job = transform("--model-dir %s --job %s --report %s", RECOMMENDER, file, report)) {
            assertThat(job.exitCode()).as(job.err()).isZero();
        }
        var lines = Files.readAllLines(out.resolve("a.jsonl.out"));
        assertThat(lines).hasSize(5).allSatisfy(line -> {
            var json = JSON.readTree(line);
            assertThat(json.properties()).extracting(Map.Entry::getKey).containsExactly("user_id", "SageMakerOutput");
            assertThat(json.path("SageMakerOutput").path("recommendations")).hasSize(3);
        });
    }

    @Test
    void anObjectThatFailsIsNamedAndTheJobEndsWithOne() throws Exception {
        Files.writeString(in.resolve("fine.jsonl"), QUERY.repeat(3));
        Files.writeString(in.resolve("poisoned.jsonl"), QUERY + "{\"user_id\": \"114521\", \"k\": 5000}\n" + QUERY);
        try (var job = recommend("--batch-strategy SingleRecord")) {
            assertThat(job.exitCode()).isEqualTo(1);
            assertThat(job.err().lines())
                    .as(job.err())
                    .filteredOn(line -> line.startsWith("failed: "))
                    .singleElement()
                    .asString()
                    .startsWith("failed: poisoned.jsonl: record 2: status 400: ")
                    .contains("k: found 5000");
            assertThat(job.out())
                    .containsPattern("succeeded +1\n")
                    .containsPattern("failed +1\n")
                    .containsPattern("records +3\n");
        }
        assertThat(out.toFile().list())
                .as("the failed object's first answer is kept")
                .containsExactlyInAnyOrder("fine.jsonl.out", ".berth-parts");
        var written = report();
        assertThat(written.path("complete").asBoolean()).isFalse();
        assertThat(written.path("succeeded").asInt()).isEqualTo(1);
        assertThat(written.path("failed").asInt()).isEqualTo(1);
        assertThat(written.path("records").asInt()).isEqualTo(3);
        assertThat(written.path("answered").asInt())
                .as("also of the object that failed")
                .isEqualTo(4);
        assertThat(written.path("failures")).singleElement().satisfies(failure -> {
            assertThat(failure.path("key").asText()).isEqualTo("poisoned.jsonl");
            assertThat(failure.path("status").asText()).isEqualTo("FAILED");
            assertThat(failure.path("failure").asText())
                    .startsWith("record 2: ")
                    .contains("k: found 5000");
        });
    }

    @Test
    void failuresForOneReasonAreNamedThreeTimesAndAllInTheReport() throws Exception {
        for (int i = 0; i < 5; i++) {
            Files.writeString(in.resolve(i + ".jsonl"), "{\"user_id\": \"114521\", \"k\": 5000}\n");
        }
        try (var job = recommend("--batch-strategy SingleRecord")) {
            assertThat(job.exitCode()).isEqualTo(1);
            assertThat(job.err().lines())
                    .filteredOn(line -> line.startsWith("failed: "))
                    .hasSize(3)
                    .last()
                    .asString()
                    .endsWith(". The report names further objects that fail like this");
        }
        assertThat(report().path("failures")).hasSize(5);
    }

    @Test
    void whatIsWrittenWronglyEndsWithTwoBeforeAnythingIsDone() throws Exception {
        refused("--output", "--input %s", in);
        refused("none.json", "--job %s", directory.resolve("none.json"));
        var job = "--input %s --output %s ".formatted(in, out);
        refused("--split-typ", job + "--split-typ Line");
        refused("--split-type (TransformInput.SplitType): found Lines", job + "--split-type Lines");
        refused("--report", job + "--report /");
        refused("where it would be an object", job + "--report %s", in.resolve("report.json"));
        for (var flag : List.of("--endpoint-url nowhere", "--endpoint localhost:8080", "--endpoint http://")) {
            refused(flag.split(" ")[0], job + flag);
        }
        refused(
                "--model-dir: found it with --endpoint",
                job + "--endpoint http://localhost:8080 --model-dir " + RECOMMENDER);
        assertThat(out).doesNotExist();
    }

    @Test
    void aModelThatCannotBeLoadedEndsWithOne() throws Exception {
        Files.writeString(in.resolve("a.jsonl"), QUERY);
        var empty = Files.createDirectory(directory.resolve("empty"));
        try (var job = transform("--model-dir %s --input %s --output %s", empty, in, out)) {
            assertThat(job.exitCode()).as(job.err()).isEqualTo(1);
            assertThat(job.err()).contains(empty.toString()).doesNotContain("\tat ");
        }
        assertThat(out).doesNotExist();
    }

    @Test
    void aServerThatIsUpIsUsed() throws Exception {
        Files.writeString(in.resolve("a.jsonl"), QUERY.repeat(4));
        try (var server =
                ServeProcess.serve(ENVIRONMENT, "--model-dir", RECOMMENDER).awaitReady()) {
            try (var job = transform(LINES + "--endpoint http://127.0.0.1:%s", in, out, report, server.port())) {
                assertThat(job.exitCode()).as(job.err()).isZero();
            }
            assertThat(server.get("/metrics").body()).contains("berth_");
        }
        assertThat(Files.readAllLines(out.resolve("a.jsonl.out"))).hasSize(4);
    }

    @Test
    void aJobThatIsToldToEndWritesItsReportFirst() throws Exception {
        // The one under way has 10 s to end, also on a busy machine.
        for (int i = 0; i < 200; i++) {
            Files.writeString(in.resolve("%03d.jsonl".formatted(i)), QUERY.repeat(50));
        }
        Files.writeString(report, "{\"status\": \"Completed\"}");
        try (var job = recommend("--batch-strategy SingleRecord --max-concurrent-transforms 1")) {
            await().until(() -> Files.exists(out.resolve("000.jsonl.out")));
            assertThat(report().path("status").asText())
                    .as("not that of another run")
                    .isEqualTo("InProgress");
            job.terminate();
            assertThat(job.exitCode()).isEqualTo(143);
            assertThat(job.out())
                    .containsSubsequence("Stopping", "Stopped")
                    .containsPattern("status +Stopped")
                    .containsPattern("answered +[1-9]");
        }
        assertThat(report().path("status").asText()).isEqualTo("Stopped");
        assertThat(report().path("succeeded").asInt()).isBetween(1, 199);
        assertThat(report().path("failed").asInt()).isZero();
    }

    @Test
    void aDryRunSaysWhatEachInstanceWouldDo() throws Exception {
        Files.writeString(in.resolve("a.jsonl"), QUERY.repeat(1000));
        Files.writeString(in.resolve("b.jsonl"), QUERY.repeat(500));
        Files.writeString(in.resolve("c.jsonl"), QUERY.repeat(400));
        var pod = Map.of("AWS_BATCH_JOB_ARRAY_INDEX", "1", "AWS_BATCH_JOB_ARRAY_SIZE", "2");
        try (var job = start(pod, "--input %s --output %s --dry-run", in, out)) {
            assertThat(job.exitCode()).as(job.err()).isZero();
            assertThat(job.out().lines())
                    .satisfiesExactly(
                            header -> assertThat(header).matches("instance +objects +MB"),
                            first -> assertThat(first).matches("0 +1 +0\\.\\d"),
                            second -> assertThat(second).matches("1 +2 +0\\.\\d  this one; 0 have their output"));
        }
        assertThat(out).doesNotExist();
        assertThat(report).doesNotExist();
    }

    @SuppressWarnings("AnnotateFormatMethod") // That would need one more library.
    private static ServeProcess start(Map<String, String> environment, String flags, Object... values)
            throws IOException {
        var command = Path.of("transform").toAbsolutePath() + " " + flags.formatted(values);
        return ServeProcess.start(environment, List.of(command.split(" ")));
    }

    private static ServeProcess transform(String flags, Object... values) throws IOException {
        return start(ENVIRONMENT, flags, values);
    }

    private ServeProcess recommend(String flags) throws IOException {
        return transform(LINES + "--model-dir %s " + flags, in, out, report, RECOMMENDER);
    }

    private static void refused(String word, String flags, Object... values) throws Exception {
        try (var job = transform(flags, values)) {
            assertThat(job.exitCode()).as(job.err()).isEqualTo(2);
            assertThat(job.err()).contains(word).doesNotContain("\tat ");
            assertThat(job.out()).isEmpty();
        }
    }

    private JsonNode report() throws IOException {
        return JSON.readTree(report.toFile());
    }

    /// All that there is below a directory, temporary files included.
    private static Map<String, String> files(Path directory) throws IOException {
        var all = new TreeMap<String, String>();
        try (var walk = Files.walk(directory)) {
            for (var file : walk.filter(Files::isRegularFile).toList()) {
                all.put(directory.relativize(file).toString(), Files.readString(file));
            }
        }
        return all;
    }
}
