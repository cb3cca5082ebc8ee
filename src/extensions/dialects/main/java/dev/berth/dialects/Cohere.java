package dev.berth.dialects;

import static dev.berth.dialects.ClientPath.CLASSIFICATION;
import static dev.berth.dialects.ClientPath.EMBEDDINGS;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.berth.content.Excerpt;
import dev.berth.content.Fields;
import dev.berth.content.Json;
import dev.berth.dialects.JsonDialect.Answer;
import dev.berth.dialects.JsonDialect.Asked;
import java.util.List;

/// The protocol of Cohere's API, versions 1 and 2: rerank and embed. `/v1/rerank` is Jina's too,
/// and answers have what either reads.
///
/// Sources: docs.cohere.com/reference, api.jina.ai/redoc.
final class Cohere {

    private static final JsonNode IDLE = Json.parse("""
          {"model": [], "input_type": [], "priority": [], "max_chunks_per_doc": [], "max_tokens_per_doc": [],
           "rank_fields": [["text"]], "return_embeddings": [false], "images": [[]],
           "embedding_types": [["float"]]}
          """, "fields");

    private static final List<String> TRUNCATION = List.of("none", "end");

    static final List<ClientPath> PATHS = List.of(rerank("1"), rerank("2"), embed("1"), embed("2"));

    private Cohere() {}

    private static ClientPath rerank(String version) {
        return ClientPath.of(
                "/v%s/rerank".formatted(version), "documents", CLASSIFICATION, body -> rerank(body, version));
    }

    private static ClientPath embed(String version) {
        return ClientPath.of("/v%s/embed".formatted(version), "texts", EMBEDDINGS, body -> embed(body, version));
    }

    /// Jina answers the documents by default, and so does version 1, because Cohere's clients do not
    /// mind.
    private static Asked rerank(JsonNode body, String version) {
        var known = List.of("query", "documents", "top_n", "return_documents");
        var fields = Fields.of(body, "body", known, IDLE);
        var documents = documents(fields.json("documents"));
        boolean withDocuments = fields.bool("return_documents", version.equals("1"));
        var ranking = new Ranking(
                fields.requiredText("query"),
                documents,
                fields.integer("top_n", 1, Integer.MAX_VALUE).orElse((long) documents.size()),
                "sigmoid",
                true);
        return ranking.asked((answer, ranks) -> {
            var whole = whole(answer, version);
            var results = whole.putArray("results");
            for (var rank : ranks) {
                var result = results.addObject().put("index", rank.index()).put("relevance_score", rank.score());
                if (withDocuments) {
                    result.putObject("document").put("text", documents.get(rank.index()));
                }
            }
            return whole;
        });
    }

    /// Texts, or objects of a text.
    private static List<String> documents(JsonNode documents) {
        return Fields.elements(documents, "documents", "a list of at least one text", (document, name) -> {
            var text = document.isObject() ? document.path("text") : document;
            if (!text.isTextual()) {
                throw Excerpt.bad(name, document, "a text or {\"text\": …}");
            }
            return text.textValue();
        });
    }

    private static Asked embed(JsonNode body, String version) {
        var known = List.of("texts", "truncate", "output_dimension");
        var fields = Fields.of(body, "body", known, IDLE);
        var texts = TextEmbeddings.texts(fields, "texts");
        ObjectNode parameters = JsonNodeFactory.instance.objectNode();
        parameters.put(
                "truncation",
                fields.word("truncate", TRUNCATION).filter("none"::equals).isEmpty());
        fields.integer("output_dimension", 1, Integer.MAX_VALUE)
                .ifPresent(count -> parameters.put("truncate_dim", count));
        boolean byType = version.equals("2") || fields.json("embedding_types").isArray();
        return Asked.of(TextEmbeddings.nodes(texts), parameters, answer -> {
            var whole = whole(answer, version);
            whole.putPOJO("texts", texts);
            whole.put("response_type", byType ? "embeddings_by_type" : "embeddings_floats");
            if (byType) {
                whole.putObject("embeddings").putRawValue("float", answer.raw());
            } else {
                whole.putRawValue("embeddings", answer.raw());
            }
            return whole;
        });
    }

    private static ObjectNode whole(Answer answer, String version) {
        var whole = JsonNodeFactory.instance.objectNode().put("id", answer.id());
        var meta = whole.putObject("meta");
        meta.putObject("api_version").put("version", version);
        // Cohere's client reads the one, langchain-cohere the other.
        meta.putObject("billed_units").put("input_tokens", answer.tokens());
        meta.putObject("tokens").put("input_tokens", answer.tokens());
        if (version.equals("1")) {
            // Jina's.
            whole.putObject("usage").put("prompt_tokens", answer.tokens()).put("total_tokens", answer.tokens());
        }
        return whole;
    }
}
