package dev.berth.transform;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import dev.berth.content.Csv;
import dev.berth.content.Json;
import dev.berth.content.JsonLines;
import dev.berth.content.RecordError;
import dev.berth.hooks.BadInputException;
import dev.berth.hooks.InferenceHandler;
import dev.berth.hooks.InvocationRequest;
import dev.berth.hooks.InvocationResponse;
import dev.berth.hooks.MediaType;
import dev.berth.hooks.ModelContext;
import dev.berth.testing.Gzipped;
import dev.berth.testing.TestServer;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// Jobs whose records are lines: which of them are answered, and where an answer or an error
/// stands.
class LineJobTest {

    private static final String LINES = "application/jsonlines";

    /// Adds the numbers of a list. Lists of more than three are for `predictFn` to reject. The answer
    /// to a list with 99 is missing.
    private static final class Sums implements InferenceHandler<Object, Object, Object> {

        @Override
        public Object modelFn(ModelContext context) {
            return this;
        }

        @Override
        public List<Object> inputFn(InvocationRequest request) throws IOException {
            var records = new ArrayList<Object>();
            if (request.contentType().withoutParameters().equals(MediaType.CSV)) {
                for (var row : Csv.rows(request.text())) {
                    records.add(Json.parse("[" + String.join(",", row) + "]", "row " + (records.size() + 1)));
                }
                return records;
            }
            for (var line : JsonLines.read(request)) {
                try {
                    records.add(line.json());
                } catch (BadInputException e) {
                    if (!request.keepBadRecords()) {
                        throw e;
                    }
                    records.add(new RecordError(e.getMessage()));
                }
            }
            return records;
        }

        @Override
        public List<Object> predictFn(List<Object> records, Object model) {
            return records.stream()
                    .map(record -> record instanceof JsonNode list ? sum(list) : record)
                    .toList();
        }

        private static Object sum(JsonNode list) {
            if (list.size() > 3) {
                throw new BadInputException("found %d numbers, expected 3 at most".formatted(list.size()));
            }
            return list.valueStream().mapToInt(JsonNode::asInt).sum();
        }

        @Override
        public InvocationResponse outputFn(List<Object> sums, InvocationRequest request) {
            var left = sums.stream().filter(sum -> !sum.equals(99)).toList();
            var lines = left.stream().map(Json::write).collect(Collectors.joining("\n"));
            return InvocationResponse.of(
                    request.accept().equals(MediaType.JSON) ? Json.write(left) : lines, request.accept());
        }

        @Override
        public List<MediaType> responseTypes() {
            return List.of(MediaType.JSON, MediaType.JSON_LINES, MediaType.CSV);
        }
    }

    @AutoClose
    private static TestServer server;

    @AutoClose
    private static TestServer keeping;

    @TempDir
    private Path directory;

    private TestJob job;

    @BeforeAll
    static void start() throws Exception {
        server = TestServer.with(new Sums()).set("SAGEMAKER_BATCH", "true").start();
        keeping = TestServer.with(new Sums()).start("SAGEMAKER_BATCH=true", "BERTH_BAD_RECORDS=keep");
    }

    @BeforeEach
    void prepare() {
        job = new TestJob(
                directory,
                "--content-type %s --accept %s --split-type Line --assemble-with Line --max-payload-in-mb 1",
                LINES,
                LINES);
    }

    /// A megabyte ends just behind the blank line.
    @Test
    @Tag("slow")
    @Tag("BAT-08")
    void aBlankLineBetweenTwoRequestsMovesNoAnswer() throws Exception {
        int before = ((1 << 20) - 1) / 7;
        write("[1, 2]\n".repeat(before) + "\n" + "[3, 4]\n".repeat(10) + "\n\n");
        assertThat(Unwatched.failure(run(server)))
                .contains("status 400: line %d: found a blank line".formatted(before + 1))
                .endsWith("; --bad-records keep writes errors in the place of such answers");
        job.set("--bad-records keep");
        assertThat(run(keeping))
                .matches(JobReport::isComplete)
                .extracting("tally.records")
                .isEqualTo(before + 11L);
        assertThat(output()).hasSize(before + 11).startsWith("3", "3").endsWith("7", "7");
        assertThat(output().get(before)).startsWith("{\"error\":\"line %d: found a blank line".formatted(before + 1));
        assertThat(output().get(before + 1)).isEqualTo("7");
    }

    @Test
    void linesOfJsonUnderAnotherTypeHaveTheirsInTheMessage() throws Exception {
        write("[1]\nno JSON\n");
        job.set("--content-type application/json");
        assertThat(Unwatched.failure(run(server)))
                .endsWith("; the type of JSON Lines is --content-type application/jsonlines");
    }

    @Test
    void anAnswerForEveryRecordIsAskedFor() throws Exception {
        for (var accept : List.of("application/json", "text/csv", LINES, LINES + " --input-filter $[0:]")) {
            job.set("--accept " + accept);
            write("[1]\n[99]\n[3]\n");
            assertThat(Unwatched.failure(run(server)))
                    .isEqualTo("answer to records 1 to 3: found 2 lines, expected 3, one for each record");
            write("[1]\n[2]\n");
            assertThat(run(server)).matches(JobReport::isComplete);
        }
    }

    @Test
    void theAnswersOfTwoRequestsNeverShareALine() throws Exception {
        job.set("--assemble-with None --batch-strategy SingleRecord");
        for (var type : List.of(LINES, "application/json", "text/csv")) {
            job.set("--accept %s", type);
            write("[1]\n[2]\n");
            assertThat(run(server)).matches(JobReport::isComplete);
            assertThat(output())
                    .containsExactlyElementsOf(
                            type.equals("application/json") ? List.of("[1]", "[2]") : List.of("1", "2"));
        }
        job.without(JobOption.ACCEPT);
        assertThat(job.read().serverVariables(Map.of())).containsEntry("SAGEMAKER_DEFAULT_INVOCATIONS_ACCEPT", LINES);
    }

    @Test
    @Tag("BAT-16")
    void recordsThatPredictFnRejectsAreKeptInTheirPlaces() throws Exception {
        job.set("--bad-records keep");
        var records = new ArrayList<String>();
        for (int i = 0; i < 100; i++) {
            records.add("[%d]".formatted(i));
        }
        records.set(41, "[1, 2, 3, 4]");
        records.set(42, "[1, 2");
        records.set(99, "[1, 2, 3, 4, 5]");
        write(String.join("\n", records));
        // The one server keeps what inputFn refuses, the other one keeps nothing.
        for (var each : List.of(keeping, server)) {
            assertThat(run(each)).matches(JobReport::isComplete);
            assertThat(output()).hasSize(100).startsWith("0", "1").contains("40", "43", "98");
            assertThat(output().get(41)).isEqualTo("{\"error\":\"line 42: found 4 numbers, expected 3 at most\"}");
            assertThat(output().get(42)).startsWith("{\"error\":\"line 43: ");
            assertThat(output().get(99)).isEqualTo("{\"error\":\"line 100: found 5 numbers, expected 3 at most\"}");
        }
    }

    @Test
    @Tag("BAT-16")
    @Tag("JOIN-03")
    void errorsAreJoinedWithTheirRecordsAndNotFiltered() throws Exception {
        job.set("--bad-records keep --join-source Input --input-filter $.x --output-filter $['id','SageMakerOutput']");
        write("""
        {"id": 1, "x": [1, 2]}
        {"id": 2, "x": [1, 2, 3, 4]}
        {"id": 3}
        no JSON
        {"id": 5, "x": [5]}
        {"x": [6]}
        """);
        for (var each : List.of(keeping, server)) {
            assertThat(run(each)).matches(JobReport::isComplete);
            assertThat(output()).hasSize(6);
            assertThat(output().get(0)).isEqualTo("{\"id\":1,\"SageMakerOutput\":3}");
            assertThat(output().get(1))
                    .isEqualTo(
                            "{\"id\":2,\"x\":[1,2,3,4],\"SageMakerOutput\":{\"error\":\"line 2: found 4 numbers, expected 3 at most\"}}");
            assertThat(output().get(2))
                    .startsWith("{\"id\":3,\"SageMakerOutput\":{\"error\":\"record 3, InputFilter $.x");
            assertThat(output().get(3)).startsWith("{\"error\":\"record 4: not JSON at column");
            assertThat(output().get(4)).isEqualTo("{\"id\":5,\"SageMakerOutput\":5}");
            assertThat(output().get(5))
                    .startsWith(
                            "{\"x\":[6],\"SageMakerOutput\":{\"error\":\"record 6, OutputFilter $['id','SageMakerOutput']: ")
                    .contains("expected an object with the member");
        }
    }

    @Test
    @Tag("BAT-23")
    void aPackedObjectHasTheFlagThatUnpacksIt() throws Exception {
        Files.write(
                Files.createDirectories(directory.resolve("in")).resolve("a.gz"),
                Gzipped.packed("[1]\n".getBytes(StandardCharsets.UTF_8)));
        assertThat(Unwatched.failure(run(server))).endsWith("; where it is packed, --compression-type Gzip unpacks it");
        job.set("--compression-type Gzip");
        assertThat(run(server)).matches(JobReport::isComplete);
    }

    @Test
    @Tag("BAT-16")
    void theErrorsOfRowsAreCells() throws Exception {
        job.set("--bad-records keep --content-type text/csv --accept text/csv");
        write("1,2\n\n1,2,3,4\n3,\"\"\n5,6\n\n");
        assertThat(run(server)).matches(JobReport::isComplete);
        assertThat(output()).hasSize(5).startsWith("3").endsWith("11");
        assertThat(output().get(1)).startsWith("\"ERROR: ");
        assertThat(output().get(2)).isEqualTo("\"ERROR: line 3: found 4 numbers, expected 3 at most\"");
        assertThat(output().get(3)).startsWith("\"ERROR: row 4: ");
        job.set("--join-source Input");
        assertThat(run(server)).matches(JobReport::isComplete);
        assertThat(output()).hasSize(5).startsWith("1,2,3").endsWith("5,6,11");
        assertThat(output().get(2)).isEqualTo("1,2,3,4,\"ERROR: line 3: found 4 numbers, expected 3 at most\"");
    }

    @Test
    void keptErrorsNeedALineOfTheirOwn() {
        job.set("--bad-records keep --split-type None --assemble-with None");
        assertThat(job.problems())
                .singleElement()
                .asString()
                .startsWith("--bad-records: found keep, expected it with --split-type Line");
    }

    private void write(String lines) throws IOException {
        job.write("a", lines);
    }

    private List<String> output() throws IOException {
        return job.lines("a");
    }

    private JobReport run(TestServer server) {
        return job.run(server.uri("/"), JobOption.OVERWRITE);
    }
}
