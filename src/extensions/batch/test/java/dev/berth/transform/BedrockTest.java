package dev.berth.transform;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.berth.content.Json;
import dev.berth.hooks.BadInputException;
import dev.berth.hooks.InvocationRequest;
import dev.berth.hooks.InvocationResponse;
import dev.berth.storage.Storage;
import dev.berth.testing.TestServer;
import dev.berth.testing.TextHandler;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// Jobs in Bedrock's format, against a real server whose model draws a picture of a prompt.
class BedrockTest {

    private static final ObjectMapper JSON = new ObjectMapper();
    private static final Path PICTURE = Path.of("examples/mnist/sample.png");

    private static TestServer server;

    @TempDir
    private Path directory;

    @BeforeAll
    static void start() throws Exception {
        var picture = Base64.getEncoder().encodeToString(Files.readAllBytes(PICTURE));
        server = TestServer.with(new TextHandler() {
                    @Override
                    public List<String> inputFn(InvocationRequest request) throws IOException {
                        var prompt = Json.read(request).path("prompt");
                        if (!prompt.isTextual()) {
                            throw new BadInputException("prompt: expected a text");
                        }
                        return List.of(prompt.textValue());
                    }

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

    @AfterAll
    static void stop() throws Exception {
        server.close();
    }

    @Test
    @Tag("BED-01")
    @Tag("BED-04")
    void eachLineIsAnsweredInItsPlaceAndCounted() throws Exception {
        var lines = IntStream.range(0, 300)
                .mapToObj(
                        "{\"recordId\": \"R%1$04d\", \"modelInput\": {\"prompt\": \"p%1$d\", \"n\": 1.50}}"::formatted)
                .collect(Collectors.joining("\n"));
        Files.writeString(directory.resolve("in.jsonl"), lines);
        assertThat(run().isComplete()).isTrue();
        var output = lines("in.jsonl.out");
        assertThat(output).hasSize(300);
        for (int i = 0; i < 300; i++) {
            assertThat(output.get(i).path("recordId").asText()).isEqualTo("R%04d".formatted(i));
            assertThat(output.get(i).path("modelInput").path("prompt").asText()).isEqualTo("p" + i);
            assertThat(output.get(i).path("modelOutput").path("text").asText()).isEqualTo("P" + i);
        }
        assertThat(JSON.readTree(directory.resolve("out/manifest.json.out").toFile()))
                .isEqualTo(JSON.readTree("""
        {"totalRecordCount": 300, "processedRecordCount": 300, "successRecordCount": 300, "errorRecordCount": 0,
         "inputTokenCount": 600, "outputTokenCount": 900}"""));
        assertThat(run().tally().skipped())
                .as("what is done is counted once more")
                .isEqualTo(1);
        assertThat(JSON.readTree(directory.resolve("out/manifest.json.out").toFile())
                        .path("totalRecordCount")
                        .asInt())
                .isEqualTo(300);
    }

    @Test
    @Tag("BED-02")
    @Tag("BED-03")
    void aBadRecordIsAnErrorInItsLineAndAMissingIdIsMadeUp() throws Exception {
        Files.writeString(directory.resolve("in.jsonl"), """
        {"recordId": "A", "modelInput": {"prompt": "a"}}
        {"recordId": "B", "modelInput": {"prompt": 7}}
        no json
        {"modelInput": {"prompt": "d"}}
        {"recordId": "E", "modelInput": 5}
        """);
        assertThat(run().isComplete()).isTrue();
        var output = lines("in.jsonl.out");
        assertThat(output).hasSize(5);
        assertThat(output)
                .extracting(line -> line.path("recordId").asText())
                .containsExactly("A", "B", "RECORD00000003", "RECORD00000004", "E");
        assertThat(output)
                .extracting(line -> line.path("error").path("errorCode").asInt())
                .containsExactly(0, 400, 400, 0, 400);
        assertThat(output.get(1).path("error").path("errorMessage").asText()).contains("prompt: expected a text");
        assertThat(output.get(1).path("modelInput").path("prompt").asInt()).isEqualTo(7);
        assertThat(output.get(3).path("modelOutput").path("text").asText()).isEqualTo("D");
        assertThat(JSON.readTree(directory.resolve("out/manifest.json.out").toFile())
                        .path("errorRecordCount")
                        .asInt())
                .isEqualTo(3);
    }

    @Test
    void openAisBatchesHaveAStatusForEachRecord() throws Exception {
        Files.writeString(directory.resolve("in.jsonl"), """
        {"custom_id": "a", "method": "POST", "url": "/v1/chat/completions", "body": {"prompt": "one"}}
        {"custom_id": "b", "method": "POST", "url": "/v1/chat/completions", "body": {"prompt": 7}}
        {"custom_id": "c"}
        """);
        for (int i = 0; i < 2; i++) {
            assertThat(run(Map.of(JobOption.FORMAT, "openai")))
                    .extracting("status", "tally.errors")
                    .containsExactly(JobStatus.COMPLETED, 2L);
        }
        var output = lines("in.jsonl.out");
        assertThat(output).extracting(line -> line.path("custom_id").asText()).containsExactly("a", "b", "c");
        assertThat(output)
                .extracting(line -> line.path("response").path("status_code").asInt())
                .containsExactly(200, 400, 400);
        assertThat(output)
                .allMatch(line ->
                        line.path("error").isNull() && line.path("id").asText().startsWith("batch_req_"));
        assertThat(output.get(0).path("response").path("body").path("text").asText())
                .isEqualTo("ONE");
        assertThat(output.get(1)
                        .path("response")
                        .path("body")
                        .path("error")
                        .path("message")
                        .asText())
                .contains("prompt: expected a text");
        assertThat(output.get(2)
                        .path("response")
                        .path("body")
                        .path("error")
                        .path("message")
                        .asText())
                .contains("expected {\"custom_id\"");
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
        Files.createDirectory(directory.resolve("two"));
        for (var name : List.of("manifest.json", "b.jsonl")) {
            Files.writeString(directory.resolve("two").resolve(name), "{\"modelInput\": {\"prompt\": \"a\"}}");
        }
        var report = run(Map.of(JobOption.INPUT, directory.resolve("two").toString()));
        assertThat(report.status()).isEqualTo(JobStatus.PARTIALLY_COMPLETED);
        assertThat(report.failures())
                .singleElement()
                .extracting(ObjectOutcome::key, ObjectOutcome::failure)
                .containsExactly(
                        "manifest.json",
                        directory.resolve("out/manifest.json.out")
                                + " would be written twice: the job counts its records there. Rename the object");
        assertThat(lines("manifest.json.out")
                        .getFirst()
                        .path("totalRecordCount")
                        .asInt())
                .isOne();
    }

    @Test
    @Tag("BED-05")
    void jobsOutsideTheirQuotasAreRefusedBeforeARecordIsSent() throws Exception {
        var quotas = Map.of(JobOption.MIN_RECORDS, "100", JobOption.MAX_RECORDS, "100000");
        write(99);
        assertThat(run(quotas))
                .matches(report ->
                        report.status() == JobStatus.FAILED && report.tally().records() == 0)
                .extracting(JobReport::problem)
                .isEqualTo("--min-records: found 99 records in the job, expected at least 100");
        write(100);
        assertThat(run(quotas).status()).isEqualTo(JobStatus.COMPLETED);
        write(100_001);
        assertThat(run(quotas).problem())
                .isEqualTo("--max-records: found more than 100000 records in the job, expected no more");
        assertThat(run(Map.of(JobOption.MAX_OBJECT_SIZE_IN_MB, "1")).problem())
                .isEqualTo("--max-object-size-in-mb: found more than 1 MiB in in.jsonl, expected no more");
        assertThat(run(Map.of(JobOption.MAX_JOB_SIZE_IN_MB, "2")).problem())
                .isEqualTo("--max-job-size-in-mb: found more than 2 MiB in the job, expected no more");
        Files.writeString(directory.resolve("in.jsonl"), "x".repeat((100 << 20) + 1));
        assertThat(run(quotas).problem()).startsWith("in.jsonl: record 1: found more than 104857600 bytes");
    }

    @Test
    @Tag("BED-06")
    void aJobGoesThroughTheStatesOfTheService() throws Exception {
        write(1);
        var states = new Unwatched();
        assertThat(run(Map.of(), states).status()).isEqualTo(JobStatus.COMPLETED);
        assertThat(states.states())
                .extracting(JobStatus::toString)
                .containsExactly("Submitted", "Validating", "Scheduled", "InProgress", "Completed");
        var refused = new Unwatched();
        run(Map.of(JobOption.MIN_RECORDS, "2"), refused);
        assertThat(refused.states())
                .extracting(JobStatus::toString)
                .containsExactly("Submitted", "Validating", "Failed");
        Files.createDirectory(directory.resolve("two"));
        Files.writeString(directory.resolve("two/a.jsonl"), "{\"modelInput\": {\"prompt\": \"a\"}}");
        Files.writeString(directory.resolve("two/b.jsonl"), "x".repeat((100 << 20) + 1));
        var half = new Unwatched();
        run(Map.of(JobOption.INPUT, directory.resolve("two").toString()), half);
        assertThat(half.states()).last().hasToString("PartiallyCompleted");
    }

    private void write(int records) throws IOException {
        Files.writeString(directory.resolve("in.jsonl"), "{\"modelInput\": {\"prompt\": \"a\"}}\n".repeat(records));
    }

    private JobReport run(Map<JobOption, String> more) throws Exception {
        return run(more, new Unwatched());
    }

    private JobReport run() throws Exception {
        return run(Map.of());
    }

    private JobReport run(Map<JobOption, String> more, Progress progress) throws Exception {
        var options = JobFlags.of(
                "--input %s --output %s --format bedrock --max-concurrent-transforms 8",
                directory.resolve("in.jsonl"), directory.resolve("out"));
        options.putAll(more);
        try (var storage = new Storage()) {
            return new JobRunner(TransformJob.read(storage, options, Map.of(), Map.of()), progress)
                    .run(server.uri("/"));
        }
    }
}
