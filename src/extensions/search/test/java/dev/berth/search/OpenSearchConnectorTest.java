package dev.berth.search;

import static dev.berth.testing.TestServer.assertStatus;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import com.fasterxml.jackson.databind.json.JsonMapper;
import com.jayway.jsonpath.JsonPath;
import dev.berth.testing.TestServer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.opensearch.ml.common.FunctionName;
import org.opensearch.ml.common.connector.ConnectorAction;
import org.opensearch.ml.common.connector.HttpConnector;
import org.opensearch.ml.common.connector.MLPostProcessFunction;
import org.opensearch.ml.common.connector.MLPreProcessFunction;
import org.opensearch.ml.common.dataset.MLInputDataset;
import org.opensearch.ml.common.dataset.TextDocsInputDataSet;
import org.opensearch.ml.common.dataset.TextSimilarityInputDataSet;
import org.opensearch.ml.common.input.MLInput;
import org.opensearch.ml.common.output.model.MLResultDataType;
import org.opensearch.ml.common.output.model.ModelTensor;

/// The classes of OpenSearch's ml-commons that make the body of a connector, and read its answer, with the
/// connectors of `docs/search.md`.
class OpenSearchConnectorTest {

    private static final JsonMapper JSON = new JsonMapper();
    private static final String EMBEDDING = "connector.pre_process.default.embedding";
    private static final List<String> TEXTS = List.of("a \"lamp\"", "it works");

    @TempDir
    Path directory;

    /// What OpenSearch makes of an answer.
    ///
    /// @param postProcess empty: none
    private static List<ModelTensor> predict(
            TestServer server, MLInputDataset texts, String preProcess, String body, String postProcess)
            throws Exception {
        var action = ConnectorAction.builder()
                .actionType(ConnectorAction.ActionType.PREDICT)
                .method("POST")
                .url(server.uri("/invocations").toString())
                .requestBody(body)
                .build();
        var connector = HttpConnector.builder()
                .name("berth")
                .version("1")
                .protocol("http")
                .parameters(Map.of())
                .actions(List.of(action))
                .build();
        var input = MLInput.builder()
                .algorithm(FunctionName.REMOTE)
                .inputDataset(texts)
                .build();
        var parameters = MLPreProcessFunction.get(preProcess).apply(input).getParameters();
        var response = server.invoke(
                connector.<String>createPayload("PREDICT", parameters), "Content-Type", "application/json");
        assertStatus(response, 200);
        if (postProcess.isEmpty()) {
            var tensors = new ArrayList<ModelTensor>();
            connector.parseResponse(response.body(), tensors, false);
            return tensors;
        }
        var read = JsonPath.parse(response.body()).<Object>read(MLPostProcessFunction.getResponseFilter(postProcess));
        return MLPostProcessFunction.get(postProcess).apply(read, MLResultDataType.FLOAT32);
    }

    private static MLInputDataset docs() {
        return TextDocsInputDataSet.builder().docs(TEXTS).build();
    }

    @Test
    void vectorsAreRead() throws Exception {
        try (var server = TestServer.artifact(SearchModels.DENSE).start()) {
            var own = JSON.readTree(server.answer(JSON.writeValueAsString(TEXTS)));
            var tensors = predict(
                    server, docs(), EMBEDDING, "${parameters.input}", "connector.post_process.default.embedding");
            assertThat(tensors).hasSize(2);
            for (int i = 0; i < 2; i++) {
                assertThat(tensors.get(i).getShape())
                        .containsExactly(own.path(i).size());
                assertThat(tensors.get(i).getData()[3].doubleValue())
                        .isCloseTo(own.path(i).path(3).doubleValue(), within(1e-9));
            }
        }
    }

    @Test
    void weightsAreRead() throws Exception {
        Files.writeString(directory.resolve("idf.json"), "{\"lamp\": 2.5}");
        try (var server =
                TestServer.artifact(SearchModels.sparse(directory, true, "")).start()) {
            var own = JSON.readTree(server.answer(JSON.writeValueAsString(TEXTS)));
            var found = predict(server, docs(), EMBEDDING, "${parameters.input}", "");
            assertThat(JSON.writeValueAsString(found.getFirst().getDataAsMap().get("response")))
                    .isEqualTo(own.toString());
            var body = "{\"texts\": ${parameters.input}, \"content_type\": \"query\"}";
            var query = predict(server, docs(), EMBEDDING, body, "");
            assertThat(query.getFirst().getDataAsMap().get("response").toString())
                    .isEqualTo("[{lamp=2.5}, {}]");
        }
    }

    @Test
    void ranksAreRead() throws Exception {
        try (var server = TestServer.artifact(SearchModels.reranker(directory)).start()) {
            var texts = TextSimilarityInputDataSet.builder()
                    .queryText("a")
                    .textDocs(List.of("a", "a b c", "a b"))
                    .build();
            var body = "{\"query\": \"${parameters.query}\", \"documents\": ${parameters.documents}}";
            var scores = predict(
                    server,
                    texts,
                    "connector.pre_process.default.rerank",
                    body,
                    "connector.post_process.cohere.rerank");
            // In the order of the texts.
            assertThat(scores).hasSize(3);
            assertThat(scores.get(1).getData()[0].doubleValue())
                    .isGreaterThan(scores.get(2).getData()[0].doubleValue());
            assertThat(scores.get(2).getData()[0].doubleValue())
                    .isGreaterThan(scores.get(0).getData()[0].doubleValue());
        }
    }
}
