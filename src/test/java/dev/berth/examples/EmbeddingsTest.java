package dev.berth.examples;

import static dev.berth.testing.TestServer.assertStatus;
import static dev.berth.testing.TestServer.json;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.berth.content.Npy;
import dev.berth.hooks.Tensor;
import dev.berth.testing.TestServer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/// The encoder of `examples/`, asked over HTTP.
class EmbeddingsTest {

    private static final Path EXAMPLE = Path.of("examples/embeddings");
    private static final ObjectMapper JSON = new ObjectMapper();

    @AutoClose
    private static TestServer server;

    private static JsonNode expected;

    @BeforeAll
    static void start() throws Exception {
        expected = JSON.readTree(EXAMPLE.resolve("expected.json").toFile());
        server = TestServer.artifact(EXAMPLE).start();
    }

    @Test
    @Tag("HOOK-05")
    @Tag("HOOK-06")
    void sentencesHaveTheCosinesThatPythonSays() throws Exception {
        assertCosines(npy(JSON.writeValueAsString(Map.of("inputs", expected.path("sentences")))));
        assertCosines(npy(JSON.writeValueAsString(expected.path("sentences"))));
    }

    @Test
    void aBatchOfAnySizeGetsWhatEachSentenceGetsAlone() throws Exception {
        var many = Collections.nCopies(100, expected.path("sentences").path(1).textValue());
        var vectors = npy(JSON.writeValueAsString(many)).unstack();
        assertThat(vectors)
                .hasSize(100)
                .allSatisfy(
                        vector -> assertThat(dot(vector, vectors.getFirst())).isCloseTo(1, within(1e-4)));
        assertThat(npy("[]").shape()).startsWith(0);
        assertThat(npy(JSON.writeValueAsString(List.of("word ".repeat(10_000)))).shape())
                .containsExactly(1, 384);
    }

    @Test
    void jsonAndJsonLinesHoldTheSameNumbers() throws Exception {
        var one = JSON.readTree(server.invoke("\"one sentence\"", "Content-Type", "application/json")
                .body());
        var line = server.invoke(
                "\"one sentence\"\n{\"inputs\": \"another\"}",
                "Content-Type",
                "application/jsonlines",
                "Accept",
                "application/jsonlines");
        assertThat(line.body().lines()).hasSize(2);
        var first = JSON.readTree(line.body().lines().findFirst().orElseThrow());
        for (int i = 0; i < 384; i++) {
            assertThat(first.path(i).doubleValue())
                    .isCloseTo(one.path(0).path(i).doubleValue(), within(1e-4));
        }
    }

    @Test
    @Tag("OAI-01")
    void openAisBodyIsAnsweredInItsForm() throws Exception {
        var sentences = List.of("one sentence", "another");
        var own = json(server.invoke(JSON.writeValueAsString(sentences)), 200);
        var floats = openAi(Map.of("model", "small", "input", sentences, "encoding_format", "float"));
        for (int i = 0; i < 2; i++) {
            assertThat(floats.at("/data/%d/embedding".formatted(i))).hasSize(384);
            assertThat(floats.at("/data/%d/embedding/0".formatted(i)).doubleValue())
                    .isCloseTo(own.path(i).path(0).doubleValue(), within(1e-4));
        }
        // The model's vectors are worth something as a whole alone.
        assertThat(openAi(Map.of("input", "one", "dimensions", 384)).path("data"))
                .hasSize(1);
        assertThat(openAi(Map.of("input", "one", "dimensions", 16))
                        .at("/error/message")
                        .textValue())
                .isEqualTo("dimensions: found 16, expected nothing or the 384 of this model's vectors");
    }

    private static JsonNode openAi(Map<String, ?> body) throws Exception {
        return JSON.readTree(
                server.post("/v1/embeddings", JSON.writeValueAsString(body)).body());
    }

    @Test
    @Tag("ERR-01")
    void whatIsNoSentenceIsNamed() throws Exception {
        assertThat(server.invoke("[\"one\", \" \"]").body())
                .contains("inputs[1]: found the text \\\" \\\", expected a sentence");
        assertThat(server.invoke("{\"text\": \"one\"}").body())
                .contains("body: found the unknown field \\\"text\\\", expected one of inputs");
        assertThat(server.invoke("{\"inputs\": \"one\", \"normalize\": false}").body())
                .contains("normalize: found false, expected true, as this model supports nothing else");
        assertThat(server.invoke("{\"input\": [1]}").body())
                .contains("input: found token ids, expected a text; they are those of another tokenizer");
        assertThat(server.invoke("7", "Content-Type", "application/jsonlines").body())
                .contains("line 1: found 7, expected a sentence");
        assertStatus(server.invoke("one", "Content-Type", "text/plain"), 415);
    }

    private static void assertCosines(Tensor matrix) {
        var vectors = matrix.unstack();
        for (int a = 0; a < vectors.size(); a++) {
            for (int b = 0; b < vectors.size(); b++) {
                assertThat(dot(vectors.get(a), vectors.get(b)))
                        .isCloseTo(
                                expected.path("cosines").path(a).path(b).doubleValue(),
                                within(expected.path("tolerance").doubleValue()));
            }
        }
    }

    private static double dot(Tensor a, Tensor b) {
        var left = a.floats();
        var right = b.floats();
        double sum = 0;
        for (int i = 0; i < left.length; i++) {
            sum += left[i] * right[i];
        }
        return sum;
    }

    private static Tensor npy(String body) throws Exception {
        var response = server.invoke(
                body.getBytes(StandardCharsets.UTF_8),
                "Content-Type",
                "application/json",
                "Accept",
                "application/x-npy");
        assertStatus(response, 200);
        return Npy.read(response.body());
    }
}
