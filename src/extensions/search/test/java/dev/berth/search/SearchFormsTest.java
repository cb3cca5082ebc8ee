package dev.berth.search;

import static dev.berth.testing.TestServer.json;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import dev.berth.testing.TestServer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/// What OpenSearch and Elasticsearch send to an endpoint, and what they read of its answers.
class SearchFormsTest {

    private static final JsonMapper JSON = new JsonMapper();

    private static final Map<String, TestServer> SERVERS = new LinkedHashMap<>();

    @TempDir
    static Path directory;

    @BeforeAll
    static void start() throws Exception {
        var prompts = "\"prompts\": {\"query\": \"the \", \"document\": \"a \"}";
        SERVERS.put(
                "dense",
                TestServer.artifact(SearchModels.dense(of("dense"), prompts)).start());
        SERVERS.put(
                "sparse",
                TestServer.artifact(SearchModels.sparse(of("sparse"), true, ""))
                        // On a busy machine a thousand bulks would wait for longer than half of a shorter time.
                        .set("SAGEMAKER_MODEL_SERVER_TIMEOUT_SECONDS", "3600")
                        .start());
        SERVERS.put(
                "reranker",
                TestServer.artifact(SearchModels.reranker(of("reranker"))).start());
        var tasks = SearchModels.DENSE.getParent();
        SERVERS.put(
                "classes",
                TestServer.artifact(tasks.resolve("text-classification-bert")).start());
        SERVERS.put("mask", TestServer.artifact(tasks.resolve("fill-mask-bert")).start());
    }

    private static Path of(String name) throws Exception {
        return Files.createDirectory(directory.resolve(name));
    }

    @AfterAll
    static void stop() throws Exception {
        for (var server : SERVERS.values()) {
            server.close();
        }
    }

    private static JsonNode ask(String server, String body) throws Exception {
        return json(
                SERVERS.get(server).invoke(body, "Content-Type", "application/json", "Accept", "application/json"),
                200);
    }

    private static JsonNode with(String prompt, String... texts) throws Exception {
        return ask("dense", JSON.writeValueAsString(Map.of("inputs", texts, "parameters", Map.of("prompt", prompt))));
    }

    @Test
    void elasticsearchReadsVectors() throws Exception {
        // One text is no list there.
        assertThat(ask("dense", "{\"input\": \"lamp\", \"input_type\": \"search\"}"))
                .isEqualTo(JSON.readTree("{\"text_embedding\": [{\"embedding\": %s}]}"
                        .formatted(with("the ", "lamp").path(0))));
        var vectors = with("a ", "lamp", "it works");
        assertThat(ask("dense", "{\"input\": [\"lamp\", \"it works\"], \"input_type\": \"ingest\"}"))
                .isEqualTo(JSON.readTree("{\"text_embedding\": [{\"embedding\": %s}, {\"embedding\": %s}]}"
                        .formatted(vectors.path(0), vectors.path(1))));
        // The texts make no difference here, and settings are the task's parameters.
        assertThat(ask("dense", """
                {"input": "lamp", "input_type": "clustering", "task_settings": {"truncate_dim": 3}}""").at("/text_embedding/0/embedding"))
                .hasSize(3)
                .first()
                .isEqualTo(with("", "lamp").at("/0/0"));
    }

    /// Which is as well `"api": "openai"` of Elasticsearch.
    @Test
    void withoutATypeTheFormIsOpenAis() throws Exception {
        assertThat(ask("dense", "{\"input\": [\"lamp\"], \"user\": \"me\", \"dimensions\": 3}")
                        .at("/data/0/embedding"))
                .hasSize(3);
    }

    @Test
    void elasticsearchReadsWeights() throws Exception {
        var long16 = String.join(" ", Collections.nCopies(30, "a"));
        var answer = ask("sparse", JSON.writeValueAsString(Map.of("input", new String[] {"a b", long16})));
        var own = ask("sparse", JSON.writeValueAsString(new String[] {"a b", long16}));
        assertThat(answer).isEqualTo(JSON.readTree("""
                {"sparse_embedding": [{"is_truncated": false, "embedding": %s}, {"is_truncated": true, "embedding": %s}]}""".formatted(own.path(0), own.path(1))));
    }

    /// A field of that name can't be indexed there.
    @Test
    void dotsAreWrittenAsElasticsearchDoes() throws Exception {
        assertThat(ask("sparse", "{\"input\": \"a.\"}")
                        .at("/sparse_embedding/0/embedding")
                        .fieldNames())
                .toIterable()
                .contains("__", "a")
                .doesNotContain(".");
        assertThat(ask("sparse", "\"a.\"").has(".")).isTrue();
    }

    /// Of hooks that nobody knows such a body is their own.
    @Test
    void otherHooksReadTheirOwnBodies() throws Exception {
        assertThat(json(
                        SERVERS.get("dense")
                                .invoke(
                                        "{\"text\": \"lamp\", \"texts\": [1], \"query\": 2}",
                                        "Content-Type",
                                        "application/json"),
                        200))
                .isEqualTo(ask("dense", "{\"text\": \"lamp\"}"));
    }

    @Test
    void elasticsearchReadsRanks() throws Exception {
        assertThat(ask("reranker", """
                {"input": ["a", "a b c", "a b"], "query": "a", "top_n": 2, "return_documents": true}""").path("rerank"))
                .hasSize(2)
                .allSatisfy(rank ->
                        assertThat(rank.fieldNames()).toIterable().containsExactly("index", "relevance_score", "text"))
                .extracting(rank ->
                        rank.path("index").intValue() + rank.path("text").textValue())
                .containsExactly("1a b c", "2a b");
        assertThat(ask("reranker", "{\"input\": \"a\", \"query\": \"b\"}").path("rerank"))
                .hasSize(1)
                .allSatisfy(
                        rank -> assertThat(rank.fieldNames()).toIterable().containsExactly("index", "relevance_score"));
    }

    @Test
    void openSearchReadsBareLists() throws Exception {
        assertThat(ask("dense", "[\"lamp\", \"it works\"]")).isEqualTo(with("", "lamp", "it works"));
        assertThat(ask("dense", "{\"texts\": [\"lamp\"], \"content_type\": \"query\"}"))
                .isEqualTo(with("the ", "lamp"));
        assertThat(ask("dense", "{\"texts\": [\"lamp\"], \"content_type\": \"passage\"}"))
                .isEqualTo(with("a ", "lamp"));
        assertThat(ask("dense", "{\"texts\": \"lamp\"}")).isEqualTo(with("", "lamp"));
        assertThat(ask("sparse", "{\"texts\": [\"a b\"], \"content_type\": \"passage\"}"))
                .isEqualTo(ask("sparse", "[\"a b\"]"));
    }

    @Test
    void openSearchReadsRanks() throws Exception {
        var ranks = ask("reranker", "{\"query\": \"a\", \"texts\": [\"a\", \"a b c\"]}");
        assertThat(ranks).extracting(rank -> rank.path("index").intValue()).containsExactly(1, 0);
        assertThat(ranks.at("/0/score").doubleValue()).isBetween(0.5, 1.0);
        assertThat(ask("reranker", "{\"query\": \"a\", \"texts\": [\"a\", \"a b c\"], \"raw_scores\": true}")
                        .at("/1/score")
                        .doubleValue())
                .isCloseTo(0.4, within(1e-6));
        var results = ask("reranker", """
                {"query": "a", "documents": ["a", "a b c"], "api_version": 2, "top_n": 1}""").path("results");
        assertThat(results).hasSize(1);
        assertThat(results.at("/0/index").intValue()).isEqualTo(1);
        assertThat(results.at("/0/relevance_score")).isEqualTo(ranks.at("/0/score"));
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', quoteCharacter = '`', textBlock = """
        dense|{"input": ["a", ""], "input_type": "ingest"}|input[1]: found the text "", expected a text that is not empty
        dense|{"input": "  ", "input_type": "ingest"}|input: found the text "  ", expected a text that is not empty
        dense|{"input": ["a", null], "input_type": "ingest"}|input[1]: found null, expected a text that is not empty
        dense|{"input": null, "input_type": "ingest"}|input: found null, expected a text or a list of texts
        dense|{"input": [], "input_type": "ingest"}|input: found an empty list, expected a text or a list of texts
        dense|{"input": "a", "input_type": "passage"}|input_type: found the text "passage", expected one of classification, clustering, ingest, search
        dense|{"input": "a", "input_type": "ingest", "task_settings": {"dim": 3}}|task_settings: found the unknown parameter "dim", expected one of prompt, prompts, input_type, truncate_dim, normalize_embeddings, truncation
        dense|{"input": ["a"], "query": "b"}|query: found a model whose task is sentence-embeddings, expected text-classification, which ranks texts for a query
        dense|{"texts": ["a"], "query": "b"}|query: found a model whose task is sentence-embeddings, expected text-classification, which ranks texts for a query
        dense|{"texts": ["a"], "content_type": "search"}|content_type: found the text "search", expected one of query, passage
        sparse|{"input": "a", "task_settings": {"prune_ratio": 2}}|task_settings.prune_ratio: found 2, expected a number from 0 to 1
        sparse|{"texts": [7]}|texts[0]: found 7, expected a text that is not empty
        mask|{"input": "a", "input_type": "ingest"}|input: found a model whose task is fill-mask, expected sentence-embeddings, sparse-embeddings or text-classification
        mask|{"texts": ["a"]}|texts: found a model whose task is fill-mask, expected sentence-embeddings or sparse-embeddings
        reranker|{"input": ["a"], "input_type": "ingest"}|query: found nothing, expected a text that is not empty
        reranker|{"texts": ["a"]}|texts: found a model whose task is text-classification, expected sentence-embeddings or sparse-embeddings, or a query
        dense|{"input": "one two three four five six seven eight nine ten eleven twelve thirteen fourteen", "input_type": "ingest", "task_settings": {"truncation": false}}|input: found 50 tokens, expected at most the 40 that the model takes; "task_settings": {"truncation": true} cuts longer texts
        reranker|{"input": ["a"], "query": "b", "task_settings": {"nothing": 1}}|task_settings: found the unknown parameter "nothing", expected one of top_k, function_to_apply, truncation
        reranker|{"input": ["a"], "query": "b", "top_n": 0}|top_n: found 0, expected a whole number of at least 1
        classes|{"input": ["a"], "query": "b"}|query: found a model of 3 labels, expected a reranker, which has one
        """)
    void whatIsWrongIsNamedAsItWasSent(String server, String body, String message) throws Exception {
        var response = SERVERS.get(server).invoke(body, "Content-Type", "application/json");
        assertThat(json(response, 400).path("message").textValue()).isEqualTo(message);
    }

    @Test
    void tooMuchIsRefused() throws Exception {
        var texts = Collections.nCopies(10_000, "a");
        assertThat(refused(Map.of("input", texts, "input_type", "ingest")))
                .isEqualTo("input: found 10000 texts, expected at most 2048");
        assertThat(refused(Map.of("texts", new String[] {"a", "b".repeat(1 << 20)})))
                .isEqualTo(
                        "texts[1]: found 1048576 characters, expected at most 100000, as a model reads the beginning only; split it into passages");
    }

    private static String refused(Map<String, ?> body) throws Exception {
        var response = SERVERS.get("dense").invoke(JSON.writeValueAsString(body), "Content-Type", "application/json");
        return json(response, 400).path("message").textValue();
    }

    /// What the platform counts as a request may hold many records.
    @Tag("ASY-02")
    @Test
    void noneOfManyBulksIsRefused() throws Exception {
        var server = SERVERS.get("sparse");
        var body = JSON.writeValueAsString(
                IntStream.range(0, 40).mapToObj(i -> "a " + i % 10).toList());
        var answers = IntStream.range(0, 1000)
                .mapToObj(_ -> server.invokeAsync(body, "Content-Type", "application/json"))
                .toList();
        TestServer.assertAll(answers, 200);
        var first = JSON.readTree(answers.getFirst().join().body());
        assertThat(first).hasSize(40);
        assertThat(first.path(10)).isEqualTo(first.path(0));
        assertThat(JSON.readTree(answers.getLast().join().body())).isEqualTo(first);
    }
}
