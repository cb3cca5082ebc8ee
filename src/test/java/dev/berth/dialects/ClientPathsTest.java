package dev.berth.dialects;

import static dev.berth.testing.TestServer.assertStatus;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import dev.berth.metrics.ServingMetrics;
import dev.berth.testing.OnnxModel;
import dev.berth.testing.TestServer;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/// What clients of other servers send, byte for byte as they do, and what they read of the answers.
class ClientPathsTest {

    private static final JsonMapper JSON = new JsonMapper();
    private static final Path TASKS = Path.of("src/test/resources/tasks").toAbsolutePath();

    @TempDir
    static Path directory;

    private static Map<String, TestServer> servers;

    @BeforeAll
    static void start() throws Exception {
        servers = Map.of(
                "embeddings",
                        TestServer.artifact(TASKS.resolve("sentence-embeddings-bert"))
                                .start(),
                "classes",
                        TestServer.artifact(TASKS.resolve("text-classification-bert"))
                                .start(),
                "reranker", TestServer.artifact(reranker()).start(),
                "questions", TestServer.sample().start());
    }

    @AfterAll
    static void stop() throws Exception {
        for (var server : servers.values()) {
            server.close();
        }
    }

    /// The score of a pair is the share of its tokens that are of the second text.
    private static Path reranker() throws Exception {
        var sample = TestServer.SAMPLE_ARTIFACT;
        Files.copy(sample.resolve("tokenizer.json"), directory.resolve("tokenizer.json"));
        OnnxModel.of("""
                in input_ids INT64 rows tokens; in token_type_ids INT64 rows tokens;
                Cast token_type_ids -> types to=FLOAT; ReduceMean types -> logits axes=[1];
                out logits FLOAT rows 1""").write(directory.resolve("model.onnx"));
        Files.writeString(directory.resolve("model.json"), """
        {"format": 1, "target": "cpu", "precision": "fp32", "maxSequenceLength": 16,
         "task": "text-classification", "inputs": ["input_ids", "token_type_ids"],
         "outputs": ["logits"], "labels": ["LABEL_0"], "shapes": "dynamic", "files": [{"path": "model.onnx"}],
         "pair": {"before": [101], "between": [102], "after": [102],
                  "padding": 0, "questionType": 0, "contextType": 1}}""");
        return directory;
    }

    private static HttpResponse<String> post(String server, String path, String body) throws Exception {
        return servers.get(server).post(path, body);
    }

    private static JsonNode ask(String server, String path, String body) throws Exception {
        var response = post(server, path, body);
        assertStatus(response, 200);
        assertThat(response.headers().firstValue("Content-Type")).contains("application/json");
        return JSON.readTree(response.body());
    }

    private static JsonNode own(String server, String body) throws Exception {
        return JSON.readTree(servers.get(server)
                .invoke(body, "Content-Type", "application/json")
                .body());
    }

    private static double length(JsonNode vector) {
        return Math.sqrt(vector.valueStream()
                .mapToDouble(JsonNode::doubleValue)
                .map(x -> x * x)
                .sum());
    }

    @Test
    void textEmbeddingsAreOfLengthOneUnlessAsked() throws Exception {
        // What LlamaIndex sends.
        var vectors = ask("embeddings", "/embed", "{\"inputs\": [\"The lamp.\", \"It works.\"], \"truncate\": true}");
        assertThat(vectors).isEqualTo(own("embeddings", """
                {"inputs": ["The lamp.", "It works."], "parameters": {"normalize_embeddings": true}}"""));
        assertThat(length(vectors.path(1))).isCloseTo(1, within(1e-5));
        assertThat(ask("embeddings", "/embed", "{\"inputs\": \"The lamp.\", \"normalize\": false}"))
                .isEqualTo(own("embeddings", "[\"The lamp.\"]"));
        assertThat(ask("embeddings", "/embed", "{\"inputs\": \"The lamp.\", \"dimensions\": 4}")
                        .path(0))
                .hasSize(4);
    }

    @Test
    void aTextThatIsTooLongIsCutUnlessAsked() throws Exception {
        var text = "the lamp ".repeat(60);
        assertThat(ask("embeddings", "/embed", "{\"inputs\": \"%s\"}".formatted(text)))
                .hasSize(1);
        var response = post("embeddings", "/embed", "{\"inputs\": \"%s\", \"truncate\": false}".formatted(text));
        assertThat(response.statusCode()).isEqualTo(422);
        assertThat(JSON.readTree(response.body()).path("error").textValue())
                .startsWith("inputs[0]: found 122 tokens, expected at most the 40 that the model takes");
    }

    @ParameterizedTest
    @CsvSource({"/similarity", "/"})
    void sentencesAreComparedWithOne(String path) throws Exception {
        var scores = ask("embeddings", path, """
            {"inputs": {"source_sentence": "The lamp.", "sentences": ["The lamp.", "It works."]}, "parameters": {}}""");
        assertThat(scores).hasSize(2);
        assertThat(scores.path(0).doubleValue()).isCloseTo(1, within(1e-5));
        var vectors = ask("embeddings", "/embed", "{\"inputs\": [\"The lamp.\", \"It works.\"]}");
        double product = 0;
        for (int i = 0; i < vectors.path(0).size(); i++) {
            product += vectors.path(0).path(i).doubleValue()
                    * vectors.path(1).path(i).doubleValue();
        }
        assertThat(scores.path(1).doubleValue()).isCloseTo(product, within(1e-5));
    }

    private static final String LONGER = "one two three four";

    @Test
    void textsAreRankedTheBestFirst() throws Exception {
        // What LiteLLM sends to a reranker of Text Embeddings Inference.
        var ranks = ask("reranker", "/rerank", """
            {"raw_scores": false, "truncation_direction": "Right", "query": "one", "texts": ["two", "%s"],
             "top_n": 2, "return_text": true}""".formatted(LONGER));
        assertThat(ranks.toString())
                .matches(
                        "\\[\\{\"index\":1,\"score\":0\\.65\\d+,\"text\":\"%s\"},\\{\"index\":0,\"score\":0\\.59\\d+,\"text\":\"two\"}]"
                                .formatted(LONGER));
        var raw = ask(
                "reranker",
                "/rerank",
                "{\"query\": \"one\", \"texts\": [\"two\", \"%s\"], \"raw_scores\": true}".formatted(LONGER));
        // [CLS] one [SEP] two [SEP]
        assertThat(raw.path(1).toString()).isEqualTo("{\"index\":0,\"score\":0.4}");
    }

    @Test
    void textsAreClassified() throws Exception {
        var one = ask("classes", "/predict", "{\"inputs\": \"The lamp.\"}");
        assertThat(one).isEqualTo(own("classes", "{\"inputs\": \"The lamp.\", \"parameters\": {\"top_k\": null}}"));
        assertThat(one).hasSize(3);
        assertThat(ask("classes", "/predict", "{\"inputs\": [\"The lamp.\", \"It works.\"]}"))
                .as("a pair")
                .isEqualTo(own("classes", """
                {"inputs": [{"text": "The lamp.", "text_pair": "It works."}], "parameters": {"top_k": null}}""").path(0));
        assertThat(ask(
                        "classes",
                        "/predict",
                        "{\"inputs\": [[\"The lamp.\"], [\"The lamp.\", \"It works.\"]], \"raw_scores\": true}"))
                .isEqualTo(own("classes", """
                {"inputs": ["The lamp.", {"text": "The lamp.", "text_pair": "It works."}],
                 "parameters": {"top_k": null, "function_to_apply": "none"}}"""));
    }

    @Test
    void theServerSaysItsHealthAndItsVersion() throws Exception {
        assertThat(servers.get("classes").get("/health").statusCode()).isEqualTo(200);
        assertThat(servers.get("classes").get("/version").body()).isEqualTo(ServingMetrics.version());
    }

    /// What `InferenceClient` sends to the address of a model.
    @Test
    void aModelIsDescribedWithoutBeingAsked() throws Exception {
        var info = JSON.readTree(servers.get("embeddings").get("/info").body());
        assertThat(info.path("max_input_length").intValue()).isEqualTo(40);
        assertThat(info.path("model_dtype").textValue()).isEqualTo("float32");
        assertThat(info.path("model_type").has("embedding")).isTrue();
        var classes = JSON.readTree(servers.get("classes").get("/info").body());
        assertThat(classes.at("/model_type/classifier/id2label/0").textValue()).isEqualTo("negative");
        assertThat(classes.at("/model_type/classifier/label2id/negative").intValue())
                .isZero();
        var reranker = JSON.readTree(servers.get("reranker").get("/info").body());
        assertThat(reranker.at("/model_type/reranker/id2label/0").textValue()).isEqualTo("LABEL_0");
    }

    /// Whoever makes a list of all tokens for each takes minutes.
    @Test
    @Timeout(20)
    void theTokensOfALongTextTakeTheirOwnTime() throws Exception {
        var tokens = ask("embeddings", "/tokenize", "{\"inputs\": \"%s\"}".formatted("a ".repeat(100_000)));
        assertThat(tokens.path(0)).hasSize(100_002);
    }

    @Test
    void tokensHavePlacesInBytesAndBecomeTextsAgain() throws Exception {
        var tokens = ask("embeddings", "/tokenize", "{\"inputs\": \"é lamp\"}").path(0);
        assertThat(tokens.path(0).path("special").booleanValue()).isTrue();
        assertThat(tokens.path(0).path("start").isNull()).isTrue();
        var plain = ask("embeddings", "/tokenize", "{\"inputs\": [\"é lamp\"], \"add_special_tokens\": false}")
                .path(0);
        assertThat(plain).hasSize(tokens.size() - 2);
        // é has two bytes.
        assertThat(plain.path(0).path("stop").intValue()).isEqualTo(2);
        assertThat(plain.path(1).path("start").intValue()).isEqualTo(3);
        assertThat(plain.path(plain.size() - 1).path("stop").intValue()).isEqualTo(7);
        var ids = tokens.findValuesAsText("id").toString();
        var whole = ask("embeddings", "/decode", "{\"ids\": %s}".formatted(ids));
        assertThat(ask("embeddings", "/decode", "{\"ids\": [%s]}".formatted(ids)))
                .isEqualTo(whole);
        assertThat(ask("embeddings", "/decode", "{\"ids\": %s, \"skip_special_tokens\": false}".formatted(ids))
                        .path(0)
                        .textValue())
                .contains(whole.path(0).textValue())
                .startsWith("[CLS]");
    }

    @Test
    void jinasFieldsOfEmbeddingsAreRead() throws Exception {
        var answer = ask("embeddings", "/v1/embeddings", """
            {"model": "m", "input": [{"text": "The lamp."}], "task": "retrieval.query", "normalized": true,
             "embedding_type": "float"}""");
        assertThat(length(answer.at("/data/0/embedding"))).isCloseTo(1, within(1e-5));
        assertThat(answer.at("/data/0/embedding").size()).isEqualTo(16);
    }

    @Test
    void huggingFacesClientAsksAtTheRoot() throws Exception {
        assertThat(ask("embeddings", "/", "{\"inputs\": \"The lamp.\", \"normalize\": false, \"truncate\": true}"))
                .isEqualTo(own("embeddings", "[\"The lamp.\"]"));
        assertThat(ask("classes", "/", "{\"inputs\": \"The lamp.\", \"parameters\": {\"top_k\": 2}}")
                        .path(0))
                .as("the client takes the first of a list")
                .hasSize(2)
                .isEqualTo(own("classes", "{\"inputs\": \"The lamp.\", \"parameters\": {\"top_k\": 2}}"));
        assertThat(ask("classes", "/", "{\"inputs\": \"The lamp.\", \"parameters\": {}}")
                        .path(0))
                .hasSize(3);
        assertThat(ask("questions", "/", """
                    {"inputs": {"question": "Who?", "context": "Marie Curie was born in Warsaw."}, "parameters": {}}""").path("answer").textValue()).isEqualTo("Marie Curie");
        assertThat(servers.get("questions").get("/").body()).contains("<!doctype html>");
    }

    @Test
    void kservesClientOfVersion1SeesThatTheServerLives() throws Exception {
        var server = servers.get("questions");
        var request = HttpRequest.newBuilder(server.uri("/"));
        var forClient = server.send(request.copy().header("Accept", "*/*").build());
        assertThat(JSON.readTree(forClient.body()).path("status").textValue()).isEqualTo("alive");
        assertThat(forClient.headers().firstValue("Vary")).contains("Accept");
        // What a browser sends.
        var forPeople = request.header("Accept", "text/html,application/xhtml+xml,*/*;q=0.8")
                .build();
        assertThat(server.send(forPeople).body()).contains("<!doctype html>");
    }

    /// What Cohere's clients send, and Jina's documentation.
    @Test
    void documentsAreRankedAsByCohereAndJina() throws Exception {
        var first = ask("reranker", "/v1/rerank", """
            {"model": "mine", "query": "one", "documents": ["two", {"text": "%s"}], "top_n": 1}""".formatted(LONGER));
        assertThat(first.path("results")).hasSize(1);
        assertThat(first.at("/results/0/index").intValue()).isEqualTo(1);
        assertThat(first.at("/results/0/relevance_score").doubleValue()).isBetween(0.65, 0.66);
        assertThat(first.at("/results/0/document/text").textValue()).isEqualTo(LONGER);
        assertThat(first.path("id").textValue()).isNotEmpty();
        assertThat(first.at("/usage/total_tokens").intValue()).isEqualTo(5 + 8);
        assertThat(first.at("/meta/api_version/version").textValue()).isEqualTo("1");
        var second = ask("reranker", "/v2/rerank", """
            {"model": "mine", "query": "one", "documents": ["two", "%s"], "max_tokens_per_doc": 4096}""".formatted(LONGER));
        assertThat(second.path("results")).hasSize(2);
        assertThat(second.path("results").path(0)).hasSize(2);
        assertThat(second.at("/meta/tokens/input_tokens").intValue()).isEqualTo(5 + 8);
    }

    @Test
    void textsAreEmbeddedAsByCohere() throws Exception {
        var vectors = own("embeddings", "[\"The lamp.\", \"It works.\"]");
        var body = """
        {"texts": ["The lamp.", "It works."], "model": "mine", "input_type": "search_document"%s}""";
        var first = ask("embeddings", "/v1/embed", body.formatted(""));
        assertThat(first.path("response_type").textValue()).isEqualTo("embeddings_floats");
        assertThat(first.path("embeddings")).isEqualTo(vectors);
        assertThat(first.path("texts")).hasSize(2);
        var typed = body.formatted(", \"embedding_types\": [\"float\"], \"truncate\": \"NONE\"");
        for (var path : List.of("/v1/embed", "/v2/embed")) {
            var answer = ask("embeddings", path, typed);
            assertThat(answer.path("response_type").textValue()).isEqualTo("embeddings_by_type");
            assertThat(answer.at("/embeddings/float")).isEqualTo(vectors);
            assertThat(answer.at("/meta/tokens/input_tokens").intValue()).isGreaterThan(4);
        }
    }

    /// As Text Embeddings Inference says it, and below a version as Cohere does.
    @ParameterizedTest
    @CsvSource(delimiter = '|', quoteCharacter = '`', textBlock = """
        embeddings|/embed|{"inputs": []}|422|inputs: found an empty list, expected at least one text
        embeddings|/embed|{"inputs": [1, 2]}|422|inputs[0]: found 1, expected a text
        embeddings|/embed|{"inputs": "a", "prompt_name": "query"}|422|prompt_name: found the text "query", expected null, as this model supports nothing else
        embeddings|/embed|{"inputs": "a", "normalise": true}|422|body: found the unknown field "normalise", expected normalize
        embeddings|/embed|{"inputs": "a", "dimensions": 0}|422|dimensions: found 0, expected a whole number of at least 1
        embeddings|/similarity|{"inputs": "a"}|422|inputs: found the text "a", expected an object
        embeddings|/similarity|{"inputs": {"sentences": ["a"]}}|422|inputs.source_sentence: found nothing, expected a text
        classes|/predict|{"inputs": ["a", "b", "c"]}|422|inputs: found a list, expected a text, or a list of one or two texts
        embeddings|/tokenize|{"inputs": []}|422|inputs: found a list, expected a text or a list of texts, at least one
        embeddings|/tokenize|{"inputs": 5}|422|inputs: found 5, expected a text or a list of texts
        embeddings|/decode|{"ids": [1, -2]}|422|ids: found a list, expected token ids, or a list of lists of them
        embeddings|/decode|{}|422|ids: found nothing, expected token ids, or a list of lists of them
        classes|/predict|{"inputs": [["a"], 5]}|422|inputs[1]: found 5, expected a text, or a list of one or two texts
        reranker|/rerank|{"texts": ["a"]}|422|query: found nothing, expected a text
        reranker|/rerank|{"query": "a", "texts": ["a", null]}|422|texts[1]: found null, expected a text
        classes|/rerank|{"query": "a", "texts": ["a"]}|422|model: found 3 labels for a text, expected a reranker, whose model has one
        reranker|/rerank|{"query": "a", "texts": ["a", "one two three four five six seven eight nine ten eleven twelve thirteen"], "truncate": false}|422|texts[1]: found 17 tokens, expected at most the 16 that the model takes; "parameters": {"truncation": true} cuts longer texts
        reranker|/v1/rerank|{"query": "a", "documents": []}|400|documents: found an empty list, expected a list of at least one text
        reranker|/v1/rerank|{"query": "a"}|400|documents: found nothing, expected a list of at least one text
        reranker|/v1/rerank|{"query": "a", "documents": [{"title": "b"}]}|400|documents[0]: found an object, expected a text or {"text": …}
        reranker|/v2/rerank|{"query": "a", "documents": ["b"], "top_n": 0}|400|top_n: found 0, expected a whole number of at least 1
        reranker|/v2/rerank|{"query": "a", "documents": ["b"], "rank_fields": ["title"]}|400|rank_fields: found a list, expected ["text"], as this model supports nothing else
        embeddings|/v2/embed|{"texts": ["a"], "embedding_types": ["int8"]}|400|embedding_types: found a list, expected ["float"], as this model supports nothing else
        embeddings|/v1/embed|{"texts": ["a"], "truncate": "START"}|400|truncate: found the text "START", expected one of none, end
        questions|/embed|{}|424|/embed: found a model whose task is question-answering, expected the task sentence-embeddings; POST /invocations asks this model
        embeddings|/rerank|{}|424|/rerank: found a model whose task is sentence-embeddings, expected the task text-classification; POST /invocations asks this model
        embeddings|/embed_sparse|{}|424|/embed_sparse: found a model whose task is sentence-embeddings, expected the task sparse-embeddings; POST /invocations asks this model
        embeddings|/embed_all|{}|424|/embed_all: found a model whose task is sentence-embeddings, expected another server, as no task of this one answers it; POST /invocations asks this model
        embeddings|/v1/rerank|{}|404|/v1/rerank: found a model whose task is sentence-embeddings, expected the task text-classification; POST /invocations asks this model
        classes|/v2/embed|{}|404|/v2/embed: found a model whose task is text-classification, expected the task sentence-embeddings; POST /invocations asks this model
        classes|/|{"inputs": 5}|400|inputs[0]: found 5, expected a text or {"text": …, "text_pair": …}
        """)
    void whatIsWrongIsNamedAsEachClientReadsIt(String server, String path, String body, int status, String message)
            throws Exception {
        var response = post(server, path, body);
        assertStatus(response, status);
        var found = JSON.readTree(response.body());
        assertThat(found.path(path.startsWith("/v") ? "message" : "error").textValue())
                .isEqualTo(message);
        if (status == 422) {
            assertThat(found.path("error_type").textValue()).isEqualTo("Validation");
        }
    }

    @Test
    void hooksWithoutATaskHaveNoSuchPaths() throws Exception {
        try (var server = TestServer.with(new dev.berth.testing.TextHandler()).start()) {
            var response = server.post("/", "{}");
            assertThat(response.statusCode()).isEqualTo(404);
            assertThat(JSON.readTree(response.body()).path("error").textValue())
                    .startsWith("/: found a model of hooks that name no task(), expected the task fill-mask or ");
        }
    }

    /// A vector is an array for these clients, and an object for those of `/invocations`.
    @ParameterizedTest
    @CsvSource({"'', 424, 404", "task, 200, 404", "openAiPaths, 424, 200"})
    void hooksThatWriteAnswersOfTheirOwnMustNameTheTaskAgain(
            String said, int ofTask, int ofOpenAi, @TempDir Path artifact) throws Exception {
        for (var file : TASKS.resolve("sentence-embeddings-bert").toFile().listFiles()) {
            if (!file.getName().startsWith("sample")) {
                Files.copy(file.toPath(), artifact.resolve(file.getName()));
            }
        }
        var hooks = Files.readString(Path.of("tools/migration/sentence-transformers/Inference.java"));
        var again = switch (said) {
            case "task" -> "@Override public java.util.Optional<String> task() { return super.task(); }}";
            case "openAiPaths" -> "@Override public List<String> openAiPaths() { return super.openAiPaths(); }}";
            default -> "}";
        };
        var code = Files.createDirectory(artifact.resolve("code"));
        Files.writeString(code.resolve("Inference.java"), hooks.substring(0, hooks.lastIndexOf('}')) + again);
        try (var server = TestServer.artifact(artifact).start()) {
            for (var path : Map.of("/embed", ofTask, "/v1/embeddings", ofOpenAi).entrySet()) {
                var field = path.getKey().equals("/embed") ? "inputs" : "input";
                assertThat(server.post(path.getKey(), "{\"%s\": \"a\"}".formatted(field))
                                .statusCode())
                        .as(path.getKey())
                        .isEqualTo(path.getValue());
            }
            assertThat(server.answer("{\"inputs\": \"a\"}")).startsWith("{\"vectors\":");
        }
    }

    /// As on SageMaker, where nobody can ask there.
    @Test
    void platformsHaveNoSuchPaths() throws Exception {
        try (var server =
                TestServer.artifact(TASKS.resolve("sentence-embeddings-bert")).start("SAGEMAKER_REGION=eu-west-1")) {
            for (var path : List.of("/embed", "/v1/embed", "/v2/rerank", "/")) {
                assertThat(server.post(path, "{}").statusCode()).as(path).isEqualTo(404);
            }
        }
    }
}
