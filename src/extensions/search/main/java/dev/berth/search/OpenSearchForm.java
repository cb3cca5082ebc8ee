package dev.berth.search;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.berth.content.Fields;
import dev.berth.content.Json;
import dev.berth.handler.text.TextForm;
import dev.berth.hooks.InvocationRequest;
import java.util.List;
import java.util.Optional;

/// What OpenSearch's connectors for SageMaker send besides bare lists of texts, which the tasks read themselves: for
/// asymmetric embeddings, and for rerankers of Text Embeddings Inference and of Cohere.
///
/// ```
/// {"texts": [A, B], "content_type": "query"}       [[0.1, …], …], or [{"a": 0.1, …}, …]
/// {"query": Q, "texts": [A, B]}                    [{"index": 1, "score": 0.9}, …]
/// {"query": Q, "documents": [A, B], "top_n": 1}    {"results": [{"index": 1, "relevance_score": 0.9}]}
/// ```
///
/// The other `content_type` is `passage`.
///
/// Source: ml-commons' `docs/remote_inference_blueprints`.
public final class OpenSearchForm implements TextForm {

    private static final JsonNode IDLE = Json.parse("""
          {"model": [], "api_version": [], "truncate": [true, "END", "end"], "return_documents": [false], "return_text": [false]}
          """, "fields");

    @Override
    public Optional<Asked> read(InvocationRequest request, JsonNode body, String task) {
        boolean isRanking = body.hasNonNull("query");
        if (body.has("inputs") || body.has("text") || !(body.has("texts") || (isRanking && body.has("documents")))) {
            return Optional.empty();
        }
        return switch (task) {
            case SearchTasks.RANKING ->
                isRanking
                        ? Optional.of(body.has("texts") ? ranking(body) : results(body))
                        : SearchTasks.refuse("texts", task, "sentence-embeddings or sparse-embeddings, or a query");
            case SearchTasks.DENSE, SearchTasks.SPARSE ->
                isRanking
                        ? SearchTasks.refuse("query", task, "text-classification, which ranks texts for a query")
                        : Optional.of(embeddings(body));
            default -> SearchTasks.refuse("texts", task, "sentence-embeddings or sparse-embeddings");
        };
    }

    private static Asked embeddings(JsonNode body) {
        var fields = Fields.of(body, "body", List.of("texts", "content_type", "parameters"));
        var parameters = fields.object("parameters").deepCopy();
        fields.word("content_type", List.of("query", "passage"))
                .ifPresent(type -> parameters.put("input_type", type.equals("query") ? "query" : "document"));
        return new Embeddings(
                SearchTexts.read(fields, "texts"),
                parameters,
                embeddings -> JsonNodeFactory.instance
                        .arrayNode()
                        .addAll(embeddings.stream()
                                .map(JsonNodeFactory.instance::pojoNode)
                                .toList()));
    }

    private static Asked ranking(JsonNode body) {
        var fields = Fields.of(body, "body", List.of("query", "texts", "top_n", "raw_scores"), IDLE);
        ObjectNode parameters = JsonNodeFactory.instance.objectNode();
        if (fields.bool("raw_scores", false)) {
            parameters.put("function_to_apply", "none");
        }
        return Ranking.of(fields, "texts", parameters, ranks -> {
            var answer = JsonNodeFactory.instance.arrayNode();
            ranks.forEach(rank -> answer.addObject().put("index", rank.index()).put("score", rank.score()));
            return answer;
        });
    }

    private static Asked results(JsonNode body) {
        var fields = Fields.of(body, "body", List.of("query", "documents", "top_n"), IDLE);
        return Ranking.of(fields, "documents", JsonNodeFactory.instance.objectNode(), ranks -> {
            var answer = JsonNodeFactory.instance.objectNode();
            var all = answer.putArray("results");
            ranks.forEach(rank -> all.addObject().put("index", rank.index()).put("relevance_score", rank.score()));
            return answer;
        });
    }
}
