package dev.berth.search;

import static dev.berth.testing.TestServer.assertStatus;
import static dev.berth.testing.TestServer.json;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import dev.berth.testing.TestServer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/// The task `sparse-embeddings`: its weights, its parameters, and what a query gets.
class SparseEmbeddingTest {

    private static final JsonMapper JSON = new JsonMapper();

    @TempDir
    Path directory;

    private static JsonNode ask(TestServer server, String body) throws Exception {
        return json(server.invoke(body, "Content-Type", "application/json"), 200);
    }

    /// As the weights of the model are: log(1 + id / 10) of its tokens, the special ones included.
    private static double weight(int id) {
        return (float) Math.log1p(id / 10F);
    }

    private static int id(String token) throws Exception {
        return JSON.readTree(SearchModels.DENSE.resolve("tokenizer.json").toFile())
                .path("model")
                .path("vocab")
                .path(token)
                .intValue();
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void aTextHasTheWeightsOfTokens(boolean isPooled) throws Exception {
        try (var server = TestServer.artifact(SearchModels.sparse(directory, isPooled, ""))
                .start()) {
            var weights = ask(server, "\"b a b\"");
            assertThat(weights.fieldNames()).toIterable().containsExactly("b", "a", "[SEP]", "[CLS]");
            for (var token : List.of("b", "a", "[SEP]", "[CLS]")) {
                assertThat(weights.path(token).doubleValue()).isCloseTo(weight(id(token)), within(1e-6));
            }
            assertThat(ask(server, "[\"b a b\", {\"text\": \"a\"}]").path(0)).isEqualTo(weights);
            var lines = server.invoke(
                            "\"b a b\"\n\"a\"",
                            "Content-Type",
                            "application/jsonlines",
                            "Accept",
                            "application/jsonlines")
                    .body()
                    .split("\n");
            assertThat(JSON.readTree(lines[0])).isEqualTo(weights);
            assertStatus(server.invoke("\"a\"", "Content-Type", "application/json", "Accept", "text/csv"), 406);
        }
    }

    @Test
    void parametersSayWhichAreAnswered() throws Exception {
        try (var server = TestServer.artifact(SearchModels.sparse(directory, true, "\"top_k\": 3"))
                .start()) {
            assertThat(ask(server, "\"b a b\"").fieldNames()).toIterable().containsExactly("b", "a", "[SEP]");
            assertThat(with(server, "\"top_k\": 1").fieldNames()).toIterable().containsExactly("b");
            assertThat(with(server, "\"prune_ratio\": 0.9").fieldNames())
                    .toIterable()
                    .containsExactly("b", "a");
            assertThat(with(server, "\"sparse_embedding_format\": \"token_id\", \"top_k\": 1")
                            .fieldNames())
                    .toIterable()
                    .containsExactly(String.valueOf(id("b")));
            // Without a table a query is a text.
            assertThat(with(server, "\"input_type\": \"query\"")).isEqualTo(ask(server, "\"b a b\""));
        }
    }

    private static JsonNode with(TestServer server, String parameters) throws Exception {
        return ask(server, "{\"inputs\": \"b a b\", \"parameters\": {%s}}".formatted(parameters));
    }

    @Test
    void aQueryIsLookedUp() throws Exception {
        Files.writeString(directory.resolve("idf.json"), "{\"a\": 2.5, \"b\": 7.25, \"c\": 1}");
        try (var server =
                TestServer.artifact(SearchModels.sparse(directory, true, "")).start()) {
            assertThat(with(server, "\"input_type\": \"query\"")).isEqualTo(JSON.readTree("{\"b\": 7.25, \"a\": 2.5}"));
            assertThat(with(server, "\"input_type\": \"document\"")).isEqualTo(ask(server, "\"b a b\""));
            // Beside documents of the same request.
            var lines = server.invoke("""
                    {"inputs": "b", "parameters": {"input_type": "query"}}
                    "b"
                    {"inputs": "c", "parameters": {"input_type": "query"}}
                    """, "Content-Type", "application/jsonlines", "Accept", "application/jsonlines")
                    .body()
                    .split("\n");
            assertThat(lines[0]).isEqualTo("{\"b\":7.25}");
            assertThat(JSON.readTree(lines[1])).isEqualTo(ask(server, "\"b\""));
            assertThat(lines[2]).isEqualTo("{\"c\":1.0}");
        }
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', quoteCharacter = '`', textBlock = """
        {"zebra": 1}|idf.json: found "zebra", expected tokens of tokenizer.json
        {"a": "much"}|idf.json: a: found "much", expected a number
        {"a": |idf.json: not JSON at column 6
        """)
    void aBrokenTableIsNamed(String table, String problem) throws Exception {
        Files.writeString(directory.resolve("idf.json"), table);
        TestServer.artifact(SearchModels.sparse(directory, true, "")).assertDoesNotStart(problem);
    }

    /// As clients of Text Embeddings Inference ask.
    @Test
    void itsPathHasTheIdsOfTokens() throws Exception {
        try (var server =
                TestServer.artifact(SearchModels.sparse(directory, true, "")).start()) {
            var sparse = json(server.post("/embed_sparse", "{\"inputs\": [\"b\", \"a\"], \"truncate\": true}"), 200);
            assertThat(sparse).hasSize(2);
            assertThat(sparse.at("/0/0/index").intValue()).isEqualTo(id("b"));
            assertThat(sparse.at("/0/0/value")).isEqualTo(ask(server, "\"b\"").path("b"));
            assertThat(json(server.post("/embed", "{\"inputs\": \"a\"}"), 424)
                            .path("error")
                            .textValue())
                    .isEqualTo(
                            "/embed: found a model whose task is sparse-embeddings, expected the task sentence-embeddings; POST /invocations asks this model");
        }
    }
}
