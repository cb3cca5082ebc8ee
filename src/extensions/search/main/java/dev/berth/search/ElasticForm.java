package dev.berth.search;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import dev.berth.content.Fields;
import dev.berth.content.Json;
import dev.berth.handler.text.TextForm;
import dev.berth.hooks.InvocationRequest;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/// Elasticsearch's service `amazon_sagemaker` with `"api": "elastic"`. What it sends to an endpoint for its tasks
/// `text_embedding`, `sparse_embedding` and `rerank`, and what it reads of the answers:
///
/// ```
/// {"input": [A, B], "input_type": "ingest"}  {"text_embedding": [{"embedding": [0.1, …]}, …]}
///                                            {"sparse_embedding": [{"is_truncated": false, "embedding": {…}}, …]}
/// {"input": [A, B], "query": Q, "top_n": 1}  {"rerank": [{"index": 1, "relevance_score": 0.9}]}
/// ```
///
/// Any of them may have `task_settings`, which are the parameters of the task here. Elasticsearch fails on another
/// field of an answer. Embeddings without `input_type` look like OpenAI's, and are answered so. A dot in a token is
/// written `__`, as Elasticsearch does for its own models.
///
/// Source: `ElasticPayload` and its kin in Elasticsearch's `x-pack/plugin/inference`.
public final class ElasticForm implements TextForm {

    /// What the texts are for, and what the tasks call it; empty: they make no difference.
    private static final Map<String, String> INPUT_TYPES =
            Map.of("search", "query", "ingest", "document", "classification", "", "clustering", "");

    /// A ranking has no use for it.
    private static final JsonNode IDLE = Json.parse("{\"input_type\": []}", "fields");

    private static final List<String> OWN = List.of("input_type", "query", "task_settings");

    @Override
    public Optional<Asked> read(InvocationRequest request, JsonNode body, String task) {
        boolean isOwn = body.has("input")
                && !body.has("inputs")
                && !body.has("text")
                && !request.path().startsWith("/v1/")
                && (task.equals(SearchTasks.SPARSE) || OWN.stream().anyMatch(body::hasNonNull));
        if (!isOwn) {
            return Optional.empty();
        }
        return switch (task) {
            case SearchTasks.DENSE, SearchTasks.SPARSE ->
                body.hasNonNull("query")
                        ? SearchTasks.refuse("query", task, "text-classification, which ranks texts for a query")
                        : Optional.of(embeddings(body, task));
            case SearchTasks.RANKING -> Optional.of(ranking(body));
            default ->
                SearchTasks.refuse("input", task, "sentence-embeddings, sparse-embeddings or text-classification");
        };
    }

    private static Asked embeddings(JsonNode body, String task) {
        var fields = Fields.of(body, "body", List.of("input", "input_type", "task_settings", "query"));
        var parameters = fields.object("task_settings").deepCopy();
        fields.word("input_type", INPUT_TYPES.keySet().stream().sorted().toList())
                .map(INPUT_TYPES::get)
                .filter(type -> !type.isEmpty())
                .ifPresent(type -> parameters.put("input_type", type));
        return new Embeddings(
                SearchTexts.read(fields, "input"),
                parameters,
                task.equals(SearchTasks.SPARSE) ? ElasticForm::sparse : ElasticForm::dense);
    }

    private static JsonNode dense(List<?> vectors) {
        var answer = JsonNodeFactory.instance.objectNode();
        var all = answer.putArray("text_embedding");
        vectors.forEach(vector -> all.addObject().putPOJO("embedding", vector));
        return answer;
    }

    private static JsonNode sparse(List<?> embeddings) {
        var answer = JsonNodeFactory.instance.objectNode();
        var all = answer.putArray("sparse_embedding");
        for (var embedding : embeddings.toArray(new SparseEmbedding[0])) {
            var weights =
                    all.addObject().put("is_truncated", embedding.isTruncated()).putObject("embedding");
            // A field of this name can't be indexed there.
            embedding.weights().forEach((token, weight) -> weights.put(token.replace(".", "__"), weight));
        }
        return answer;
    }

    private static Asked ranking(JsonNode body) {
        var known = List.of("input", "query", "top_n", "return_documents", "task_settings");
        var fields = Fields.of(body, "body", known, IDLE);
        boolean withTexts = fields.bool("return_documents", false);
        return Ranking.of(fields, "input", fields.object("task_settings"), ranks -> {
            var answer = JsonNodeFactory.instance.objectNode();
            var all = answer.putArray("rerank");
            for (var rank : ranks) {
                var one = all.addObject().put("index", rank.index()).put("relevance_score", rank.score());
                if (withTexts) {
                    one.put("text", rank.text());
                }
            }
            return answer;
        });
    }
}
