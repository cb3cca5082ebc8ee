package dev.berth.transform;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.berth.hooks.InvocationRequest;
import dev.berth.hooks.InvocationResponse;
import dev.berth.testing.TestServer;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Base64;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// Jobs in Bedrock's format, against a real server whose model draws a picture of a prompt.
class BedrockTest {

    private static final ObjectMapper JSON = new ObjectMapper();
    private static final Path PICTURE = Path.of("examples/mnist/sample.png");

    @AutoClose
    private static TestServer server;

    @TempDir
    private Path directory;

    private TestJob job;

    @BeforeAll
    static void start() throws Exception {
        var picture = Base64.getEncoder().encodeToString(Files.readAllBytes(PICTURE));
        server = TestServer.with(new Prompts() {
                    @Override
                    public InvocationResponse outputFn(List<String> predictions, InvocationRequest request) {
                        return InvocationResponse.of(
                                "{\"text\": \"%s\", \"images\": [\"%s\"], \"usage\": {\"input_tokens\": 2, \"output_tokens\": 3}}"
                                        .formatted(predictions.getFirst(), picture),
                                request.accept());
                    }
                })
                .start("SAGEMAKER_BATCH=true");
    }

    @BeforeEach
    void prepare() {
        job = new TestJob(directory, "--format bedrock --max-concurrent-transforms 8");
    }

    @Test
    @Tag("BED-01")
    @Tag("BED-04")
    void eachLineIsAnsweredInItsPlaceAndCounted() throws Exception {
        var lines = IntStream.range(0, 300)
                .mapToObj(
                        "{\"recordId\": \"R%1$04d\", \"modelInput\": {\"prompt\": \"p%1$d\", \"n\": 1.50}}"::formatted)
                .collect(Collectors.joining("\n"));
        job.write(lines);
        assertThat(run().isComplete()).isTrue();
        var output = lines("in.out");
        assertThat(output).hasSize(300);
        for (int i = 0; i < 300; i++) {
            assertThat(output.get(i).path("recordId").asText()).isEqualTo("R%04d".formatted(i));
            assertThat(output.get(i).at("/modelInput/prompt").asText()).isEqualTo("p" + i);
            assertThat(output.get(i).path("modelOutput").path("text").asText()).isEqualTo("P" + i);
        }
        assertThat(JSON.readTree(directory.resolve("out/manifest.json.out").toFile()))
                .isEqualTo(JSON.readTree("""
        {"totalRecordCount": 300, "processedRecordCount": 300, "successRecordCount": 300, "errorRecordCount": 0,
         "inputTokenCount": 600, "outputTokenCount": 900}"""));
        assertThat(run().tally().skipped())
                .as("what is done is counted once more")
                .isEqualTo(1);
        assertThat(job.output("manifest.json")).contains("\"totalRecordCount\":300,");
    }

    @Test
    @Tag("BED-02")
    @Tag("BED-03")
    void aBadRecordIsAnErrorInItsLineAndAMissingIdIsMadeUp() throws Exception {
        job.write("""
        {"recordId": "A", "modelInput": {"prompt": "a"}}
        {"recordId": "B", "modelInput": {"prompt": 7}}
        no json
        {"modelInput": {"prompt": "d"}}
        {"recordId": "E", "modelInput": 5}
        """);
        assertThat(run().isComplete()).isTrue();
        var output = lines("in.out");
        assertThat(output).hasSize(5);
        assertThat(output)
                .extracting(line -> line.path("recordId").asText())
                .containsExactly("A", "B", "RECORD00000003", "RECORD00000004", "E");
        assertThat(output)
                .extracting(line -> line.path("error").path("errorCode").asInt())
                .containsExactly(0, 400, 400, 0, 400);
        assertThat(output.get(1).at("/error/errorMessage").asText()).contains("prompt: expected a text");
        assertThat(output.get(1).at("/modelInput/prompt").asInt()).isEqualTo(7);
        assertThat(output.get(3).path("modelOutput").path("text").asText()).isEqualTo("D");
        assertThat(job.output("manifest.json")).contains("\"errorRecordCount\":3,");
    }

    @Test
    void openAisBatchesHaveAStatusForEachRecord() throws Exception {
        job.write("""
        {"custom_id": "a", "method": "POST", "url": "/v1/chat/completions", "body": {"prompt": "one"}}
        {"custom_id": "b", "method": "POST", "url": "/v1/chat/completions", "body": {"prompt": 7}}
        {"custom_id": "c"}
        """);
        for (int i = 0; i < 2; i++) {
            assertThat(job.set("--format openai").run(server.uri("/")))
                    .extracting("status", "tally.errors")
                    .containsExactly(JobStatus.COMPLETED, 2L);
        }
        var output = lines("in.out");
        assertThat(output).extracting(line -> line.path("custom_id").asText()).containsExactly("a", "b", "c");
        assertThat(output)
                .extracting(line -> line.path("response").path("status_code").asInt())
                .containsExactly(200, 400, 400);
        assertThat(output)
                .allMatch(line ->
                        line.path("error").isNull() && line.path("id").asText().startsWith("batch_req_"));
        assertThat(output.get(0).at("/response/body/text").asText()).isEqualTo("ONE");
        assertThat(output.get(1).at("/response/body/error/message").asText()).contains("prompt: expected a text");
        assertThat(output.get(2).at("/response/body/error/message").asText()).contains("expected {\"custom_id\"");
        assertThat(directory.resolve("out/manifest.json.out")).doesNotExist();
    }

    private List<JsonNode> lines(String name) throws IOException {
        try (var lines = JSON.readerFor(JsonNode.class)
                .<JsonNode>readValues(directory.resolve("out").resolve(name).toFile())) {
            return lines.readAll();
        }
    }

    @Test
    void anObjectWhoseOutputWouldBeTheManifestIsRefused() throws Exception {
        for (var name : List.of("manifest.json", "b.jsonl")) {
            job.write(name, "{\"modelInput\": {\"prompt\": \"a\"}}");
        }
        var report = run();
        assertThat(report.status()).isEqualTo(JobStatus.PARTIALLY_COMPLETED);
        assertThat(report.failures())
                .singleElement()
                .extracting(ObjectOutcome::key, ObjectOutcome::failure)
                .containsExactly(
                        "manifest.json",
                        directory.resolve("out/manifest.json.out")
                                + " would be written twice: the job counts its records there. Rename the object");
        assertThat(job.output("manifest.json")).contains("\"totalRecordCount\":1,");
    }

    @Test
    @Tag("BED-05")
    void jobsOutsideTheirQuotasAreRefusedBeforeARecordIsSent() throws Exception {
        job.set("--min-records 100 --max-records 100000");
        write(99);
        assertThat(run())
                .matches(report ->
                        report.status() == JobStatus.FAILED && report.tally().records() == 0)
                .extracting(JobReport::problem)
                .isEqualTo("--min-records: found 99 records in the job, expected at least 100");
        write(100);
        assertThat(run().status()).isEqualTo(JobStatus.COMPLETED);
        write(100_001);
        assertThat(run().problem())
                .isEqualTo("--max-records: found more than 100000 records in the job, expected no more");
        job.without(JobOption.MIN_RECORDS, JobOption.MAX_RECORDS).set("--max-object-size-in-mb 1");
        assertThat(run().problem()).isEqualTo("--max-object-size-in-mb: found more than 1 MiB in in, expected no more");
        job.without(JobOption.MAX_OBJECT_SIZE_IN_MB).set("--max-job-size-in-mb 2");
        assertThat(run().problem())
                .isEqualTo("--max-job-size-in-mb: found more than 2 MiB in the job, expected no more");
        job.write("x".repeat((100 << 20) + 1));
        assertThat(run().problem()).startsWith("in: record 1: found more than 104857600 bytes");
    }

    @Test
    @Tag("BED-06")
    void aJobGoesThroughTheStatesOfTheService() throws Exception {
        write(1);
        assertThat(states()).containsExactly("Submitted", "Validating", "Scheduled", "InProgress", "Completed");
        job.set("--min-records 2");
        assertThat(states()).containsExactly("Submitted", "Validating", "Failed");
        Files.delete(directory.resolve("in"));
        job.without(JobOption.MIN_RECORDS).write("a.jsonl", "{\"modelInput\": {\"prompt\": \"a\"}}");
        job.write("b.jsonl", "x".repeat((100 << 20) + 1));
        assertThat(states()).last().isEqualTo("PartiallyCompleted");
    }

    private void write(int records) throws IOException {
        job.write("{\"modelInput\": {\"prompt\": \"a\"}}\n".repeat(records));
    }

    private JobReport run() {
        return job.run(server.uri("/"));
    }

    private List<String> states() {
        var states = new Unwatched();
        TestJob.run(new JobRunner(job.read(), states), server.uri("/"));
        return states.states().stream().map(JobStatus::toString).toList();
    }
}
