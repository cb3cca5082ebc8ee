package dev.berth.search;

import static dev.berth.testing.TestServer.json;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import dev.berth.testing.TestServer;
import java.nio.file.Path;
import java.util.Map;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/// The server answers as `SparseEncoder` of sentence-transformers does, whose answers `trace/sparse_fixtures.py` has
/// written down.
class SparseReferenceTest {

    private static final JsonMapper JSON = new JsonMapper();
    private static final Path FIXTURES =
            Path.of("src/extensions/search/test/resources").toAbsolutePath();
    private static final double TOLERANCE = 1e-4;

    @ParameterizedTest
    @ValueSource(strings = {"sparse-embeddings-bert", "sparse-embeddings-bert-onnx"})
    void theServerAnswersAsTheEncoder(String artifact) throws Exception {
        var expected = JSON.readTree(FIXTURES.resolve("sparse-embeddings.json").toFile());
        assertThat(expected.size()).isGreaterThanOrEqualTo(5);
        boolean hasTable = !artifact.endsWith("onnx");
        try (var server = TestServer.artifact(FIXTURES.resolve(artifact)).start()) {
            for (var text : expected) {
                assertSame(ask(server, text, "document"), text.path("document"));
                assertSame(ask(server, text, "query"), text.path(hasTable ? "query" : "document"));
            }
        }
    }

    private static JsonNode ask(TestServer server, JsonNode text, String type) throws Exception {
        var body = Map.of("inputs", text.path("text").textValue(), "parameters", Map.of("input_type", type));
        return json(server.invoke(JSON.writeValueAsString(body), "Content-Type", "application/json"), 200);
    }

    private static void assertSame(JsonNode found, JsonNode expected) {
        expected.properties()
                .forEach(token -> assertThat(found.path(token.getKey()).doubleValue())
                        .as(token.getKey())
                        .isCloseTo(token.getValue().doubleValue(), within(TOLERANCE)));
        found.properties()
                .forEach(token -> assertThat(expected.path(token.getKey()).doubleValue())
                        .as(token.getKey())
                        .isCloseTo(token.getValue().doubleValue(), within(TOLERANCE)));
    }
}
