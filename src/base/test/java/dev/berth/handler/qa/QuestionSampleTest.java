package dev.berth.handler.qa;

import static dev.berth.testing.TestServer.assertStatus;
import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.berth.testing.TestArtifact;
import dev.berth.testing.TestServer;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/// The artifact's own test, which the server takes before it is ready.
class QuestionSampleTest {

    private static final ObjectMapper JSON = new ObjectMapper();
    private static final String QUESTION = "{\"question\": \"Who came?\", \"context\": \"Bob came with Alice.\"}";

    @TempDir
    private Path artifact;

    @BeforeEach
    void makeTheArtifact() throws Exception {
        TestArtifact.dynamic(artifact, "waves.pt");
        Files.writeString(artifact.resolve("sample.json"), QUESTION);
    }

    @ParameterizedTest
    @CsvSource({"0, -1", "4,"})
    void anotherScoreOrAnotherOfTheBestAnswersWillDo(int rank, Double score) throws Exception {
        var traced = (ObjectNode) answers().path(rank);
        if (score != null) {
            traced.put("score", score);
        }
        respond(traced);
        try (var server = TestServer.artifact(artifact).start()) {
            assertStatus(server.get("/ping"), 200);
        }
    }

    @Test
    void aModelThatFailsOnItStopsTheStart() throws Exception {
        Files.delete(artifact.resolve("waves.pt"));
        Files.copy(TestArtifact.TORCHSCRIPT.resolve("fixed-shape.pt"), artifact.resolve("waves.pt"));
        assertStopsWith("the model does not take what the files beside it say", "expected the shape [2, 32]");
    }

    @Test
    void anyOtherAnswerStopsTheStart() throws Exception {
        respond(answers().path(5));
        assertStopsWith("sample-response.json: found another response to sample.json: {\"answer\"");
    }

    @Test
    void aSampleThatIsNoneStopsTheStart() throws Exception {
        sample("{\"question\": \"Who came?\"}", "sample.json: the model does not answer it: context: found nothing");
        for (var response : new String[] {"null", "{}", "[]", "7", "{\"answer\": \"Bob\"}"}) {
            Files.writeString(artifact.resolve("sample-response.json"), response);
            sample(QUESTION, "sample-response.json: found another response to sample.json: ");
        }
        Files.writeString(artifact.resolve("sample-response.json"), "no JSON");
        sample(QUESTION, "sample-response.json: not JSON");
    }

    @Test
    void parametersOfTheArtifactHoldWhereTheRequestHasNone() throws Exception {
        var question = "{\"inputs\": " + QUESTION + ", \"parameters\": {%s}}";
        try (var server = TestServer.artifact(artifact).start()) {
            assertThat(server.invoke(question.formatted("\"top_k\": 2")).body()).startsWith("[");
        }
        var model = Files.readString(artifact.resolve("model.json"));
        Files.writeString(
                artifact.resolve("model.json"), model.replaceFirst("\\{", "{\"parameters\": {\"top_k\": 2},"));
        try (var server = TestServer.artifact(artifact).start()) {
            assertThat(server.invoke(QUESTION).body()).startsWith("[");
            assertThat(server.invoke(question.formatted("\"top_k\": 1")).body()).startsWith("{");
        }
        Files.writeString(
                artifact.resolve("model.json"), model.replaceFirst("\\{", "{\"parameters\": {\"top_k\": 0},"));
        assertStopsWith("model.json: parameters.top_k: found 0, expected a whole number from 1 to 1000");
    }

    /// It may be too large for the windows of a request that asks for others.
    @Test
    void theStrideOfTheArtifactHoldsForTheWindowsOfTheArtifact() throws Exception {
        var model = Files.readString(artifact.resolve("model.json"));
        Files.writeString(
                artifact.resolve("model.json"),
                model.replaceFirst("\\{", "{\"parameters\": {\"doc_stride\": 60, \"max_seq_len\": 64},"));
        var question =
                "{\"inputs\": {\"question\": \"Who came?\", \"context\": \"%s\"}, \"parameters\": {\"max_seq_len\": %d}}";
        try (var server = TestServer.artifact(artifact).start()) {
            var context = "Bob came with Alice. ".repeat(40);
            assertStatus(server.invoke(question.formatted(context, 64)), 400, "doc_stride: found 60, expected at most");
            assertStatus(server.invoke(question.formatted(context, 63)), 200);
        }
    }

    /// What the model answers, the best first.
    private JsonNode answers() throws Exception {
        try (var server = TestServer.artifact(artifact).start()) {
            return JSON.readTree(server.invoke("{\"inputs\": " + QUESTION + ", \"parameters\": {\"top_k\": 6}}")
                    .body());
        }
    }

    private void respond(JsonNode answer) throws IOException {
        JSON.writeValue(artifact.resolve("sample-response.json").toFile(), answer);
    }

    private void sample(String request, String problem) throws Exception {
        Files.writeString(artifact.resolve("sample.json"), request);
        assertStopsWith(problem);
    }

    private void assertStopsWith(String... messages) throws Exception {
        TestServer.artifact(artifact).assertDoesNotStart(messages);
    }
}
