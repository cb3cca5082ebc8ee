package dev.berth.openai;

import static dev.berth.testing.TestServer.assertStatus;
import static dev.berth.testing.TestServer.json;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import dev.berth.testing.TestServer;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/// `/v1/embeddings` of the task that makes embeddings, and of those that make none.
@Tag("OAI-01")
class OpenAiEmbeddingsTest {

    private static final Path ARTIFACT =
            Path.of("src/test/resources/tasks/sentence-embeddings-bert").toAbsolutePath();

    private static final JsonMapper JSON = new JsonMapper();

    @AutoClose
    private static TestServer server;

    @BeforeAll
    static void start() throws Exception {
        server = TestServer.artifact(ARTIFACT).start();
    }

    private static JsonNode ask(String body) throws Exception {
        return json(server.post("/v1/embeddings", body), 200);
    }

    private static String error(HttpResponse<String> response, int status) throws Exception {
        return json(response, status).at("/error/message").textValue();
    }

    private static JsonNode own(String text) throws Exception {
        return JSON.readTree(server.answer(JSON.writeValueAsString(text)));
    }

    @Test
    void theAnswerIsInOpenAisForm() throws Exception {
        var answer = ask("""
        {"model": "mine", "input": ["The lamp.", "It works."], "encoding_format": null, "user": "u"}""");
        assertThat(answer.path("object").textValue()).isEqualTo("list");
        assertThat(answer.path("model").textValue()).isEqualTo("mine");
        assertThat(answer.at("/usage/prompt_tokens").intValue())
                .isGreaterThan(4)
                .isEqualTo(answer.at("/usage/total_tokens").intValue());
        assertThat(answer.path("data")).hasSize(2);
        assertThat(answer.at("/data/1/object").textValue()).isEqualTo("embedding");
        assertThat(answer.at("/data/1/index").intValue()).isEqualTo(1);
        assertThat(answer.at("/data/1/embedding")).hasSize(own("It works.").size());
        assertThat(answer.at("/data/1/embedding/0").doubleValue())
                .isCloseTo(own("It works.").path(0).doubleValue(), within(1e-5));
        // One text alone has a list too. SageMaker's path takes the body as well.
        assertThat(ask("{\"input\": \"The lamp.\"}").path("data")).hasSize(1);
        assertThat(server.post("/invocations", "{\"input\": \"The lamp.\"}").body())
                .contains("\"embedding\"");
    }

    @Test
    void base64IsTheVectorsBytes() throws Exception {
        var bytes = ask("{\"input\": \"The lamp.\", \"encoding_format\": \"base64\"}")
                .at("/data/0/embedding")
                .binaryValue();
        var vector = own("The lamp.");
        var floats = ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN).asFloatBuffer();
        assertThat(floats.remaining()).isEqualTo(vector.size());
        assertThat((double) floats.get(3)).isCloseTo(vector.path(3).doubleValue(), within(1e-5));
    }

    @Test
    void dimensionsCutTheVectorToLengthOne() throws Exception {
        var vector = ask("{\"input\": \"The lamp.\", \"dimensions\": 4}").at("/data/0/embedding");
        assertThat(vector).hasSize(4);
        assertThat(IntStream.range(0, 4)
                        .mapToDouble(i -> Math.pow(vector.path(i).doubleValue(), 2))
                        .sum())
                .isCloseTo(1, within(1e-5));
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', quoteCharacter = '`', textBlock = """
        {"model": "m"}|input: found nothing, expected a text or a list of texts
        {"input": []}|input: found an empty list, expected a text or a list of texts
        {"input": [5, 7]}|input: found token ids, expected a text; they are those of another tokenizer
        {"input": [[5, 7]]}|input[0]: found token ids, expected a text; they are those of another tokenizer
        {"input": ["a", null]}|input[1]: found null, expected a text
        {"input": "a", "encoding_format": "int8"}|encoding_format: found the text "int8", expected one of float, base64
        {"input": "a", "dimensions": 0}|dimensions: found 0, expected a whole number of at least 1
        {"input": "a", "dimensions": 1.5}|dimensions: found 1.5, expected a whole number of at least 1
        {"input": "a", "model": 7}|model: found 7, expected a text
        {"input": "a", "dimension": 4}|body: found the unknown field "dimension", expected dimensions
        {"input": "a", "stream": true}|body: found the unknown field "stream", expected one of model, input, encoding_format, dimensions, embedding_type, normalized, task
        """)
    void whatIsWrongIsNamed(String body, String message) throws Exception {
        assertThat(error(server.post("/v1/embeddings", body), 400)).isEqualTo(message);
    }

    @Test
    void moreDimensionsThanTheModelHasAreRefused() throws Exception {
        var response = server.post("/v1/embeddings", "{\"input\": \"a\", \"dimensions\": 99999}");
        assertThat(error(response, 400))
                .isEqualTo("dimensions: found 99999, expected at most the %d of this model's vectors"
                        .formatted(own("a").size()));
    }

    /// Whatever the types are that the task has elsewhere.
    @Test
    void theBodiesAreJsonAlone() throws Exception {
        try (var asCsv = TestServer.artifact(ARTIFACT).start("SAGEMAKER_DEFAULT_INVOCATIONS_ACCEPT=text/csv")) {
            assertThat(asCsv.post("/v1/embeddings", "{\"input\": \"a\"}")
                            .headers()
                            .firstValue("Content-Type"))
                    .contains("application/json");
        }
        for (var type : List.of("text/csv", "application/jsonlines", "application/x-npy")) {
            var body = BodyPublishers.ofString("{\"input\": \"a\"}");
            assertStatus(server.send(server.request("/v1/embeddings", body, "Content-Type", type)), 415);
            assertStatus(server.send(server.request("/v1/embeddings", body, "Accept", type)), 406);
        }
    }

    @Test
    void theModelIsListed() throws Exception {
        var list = json(server.get("/v1/models"), 200);
        assertThat(list.path("object").textValue()).isEqualTo("list");
        assertThat(list.path("data")).hasSize(1);
        var model = list.at("/data/0");
        assertThat(model.path("id").textValue()).isEqualTo("model");
        assertThat(model.path("object").textValue()).isEqualTo("model");
        assertThat(model.path("created").isIntegralNumber()).isTrue();
        assertThat(model.path("owned_by").isTextual()).isTrue();
        assertThat(json(server.get("/v1/models/model"), 200)).isEqualTo(model);
        assertThat(error(server.get("/v1/models/gpt"), 404)).startsWith("model: found \"gpt\", expected model");
    }

    @Test
    void modelsThatMakeNoneSaySo() throws Exception {
        assertStatus(server.post("/v1/chat/completions", "{}"), 404);
        try (var questions = TestServer.sample().start()) {
            assertThat(error(questions.post("/v1/embeddings", "{\"input\": \"a\"}"), 404))
                    .isEqualTo(
                            "/v1/embeddings: this model makes no embeddings, or its hooks do not say so in openAiPaths(); POST /invocations asks it");
            var list = json(questions.get("/v1/models"), 200);
            assertThat(list.at("/data/0/id").textValue()).isEqualTo("model");
        }
    }
}
