package dev.berth.dialects;

import static dev.berth.dialects.ClientPath.CLASSIFICATION;
import static dev.berth.dialects.ClientPath.EMBEDDINGS;
import static dev.berth.dialects.ClientPath.SPARSE_EMBEDDINGS;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import com.fasterxml.jackson.databind.node.TextNode;
import dev.berth.content.Excerpt;
import dev.berth.content.Fields;
import dev.berth.content.Json;
import dev.berth.dialects.JsonDialect.Answer;
import dev.berth.dialects.JsonDialect.Asked;
import dev.berth.error.ErrorType;
import dev.berth.hooks.BadInputException;
import dev.berth.hooks.MediaType;
import dev.berth.http.ErrorForm;
import dev.berth.serving.Dialect;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;

/// The protocol of Hugging Face's Text Embeddings Inference, as its version 1.9 has it.
///
/// | path | task | request | answer |
/// |---|---|---|---|
/// | `/embed` | sentence embeddings | `{"inputs": …, "normalize": true, "dimensions": n}` | `[[0.1, …], …]` |
/// | `/embed_sparse` | sparse embeddings | `{"inputs": …}` | `[[{"index": 1012, "value": 0.9}, …], …]` |
/// | `/similarity` | sentence embeddings | `{"inputs": {"source_sentence": …, "sentences": […]}}` | `[0.9, …]` |
/// | `/rerank` | text classification, one label | `{"query": …, "texts": […]}` | `[{"index": 1, "score": 0.9}, …]` |
/// | `/predict` | text classification | `{"inputs": …}` | `[{"score": 0.9, "label": …}, …]` |
///
/// Each may say `truncate`, which is true by default.
///
/// Source: `router/src/http` of its repository.
final class TextEmbeddings {

    /// Asked by GET, without a body.
    static final String INFO = "/info";

    private static final JsonNode IDLE = Json.parse("""
          {"truncation_direction": ["Right", "right"], "prompt_name": [null], "encoding_format": ["float"],
           "options": [], "model": [], "user": []}
          """, "fields");

    static final List<ClientPath> PATHS = List.of(
            ClientPath.of("/embed", "inputs", EMBEDDINGS, TextEmbeddings::embed),
            ClientPath.of("/similarity", "inputs.sentences", EMBEDDINGS, TextEmbeddings::similarity),
            ClientPath.of("/rerank", "texts", CLASSIFICATION, TextEmbeddings::rerank),
            ClientPath.of("/predict", "inputs", CLASSIFICATION, TextEmbeddings::predict),
            ClientPath.of("/embed_sparse", "inputs", SPARSE_EMBEDDINGS, TextEmbeddings::embedSparse),
            // What no model here answers: vectors of tokens.
            new ClientPath("/embed_all", "inputs", Map.of()),
            // What needs no forward: [ModelQuestions].
            asItIs(INFO),
            asItIs("/tokenize"),
            asItIs("/decode"));

    /// `{"error": …, "error_type": …}`, with its statuses.
    static final ErrorForm ERRORS =
            new ErrorForm(
                    MediaType.JSON.toString(),
                    (type, text) -> JsonNodeFactory.instance
                            .objectNode()
                            .put("error", text)
                            .put("error_type", word(type))) {
                @Override
                protected int status(ErrorType type) {
                    return switch (type) {
                        case BAD_INPUT -> 422;
                        case NOT_FOUND, INTERNAL -> 424;
                        default -> isOverload(type) ? 429 : type.status();
                    };
                }
            };

    private TextEmbeddings() {}

    private static boolean isOverload(ErrorType type) {
        return type.isRefusal() && type != ErrorType.NOT_READY;
    }

    private static String word(ErrorType type) {
        return switch (type) {
            case NOT_READY -> "Unhealthy";
            case NOT_FOUND, INTERNAL, DEADLINE_EXCEEDED, INSUFFICIENT_MEMORY, CALLER_GONE -> "Backend";
            default -> isOverload(type) ? "Overloaded" : "Validation";
        };
    }

    private static ClientPath asItIs(String path) {
        return new ClientPath(
                path, "inputs", Map.of(EMBEDDINGS, () -> Dialect.NONE, CLASSIFICATION, () -> Dialect.NONE));
    }

    /// Also what Hugging Face's clients send.
    static Asked embed(JsonNode body) {
        var fields = fields(body, "inputs", "normalize", "dimensions", "truncate");
        ObjectNode parameters = truncated(fields).put("normalize_embeddings", fields.bool("normalize", true));
        fields.integer("dimensions", 1, Integer.MAX_VALUE).ifPresent(count -> parameters.put("truncate_dim", count));
        return Asked.of(nodes(texts(fields, "inputs")), parameters, Answer::raw);
    }

    private static Asked embedSparse(JsonNode body) {
        var fields = fields(body, "inputs", "truncate");
        var parameters = truncated(fields).put("sparse_embedding_format", "token_id");
        return Asked.of(
                nodes(texts(fields, "inputs")),
                parameters,
                answer -> answer.json()
                        .valueStream()
                        .map(weights -> weights.propertyStream()
                                .map(weight -> JsonNodeFactory.instance
                                        .objectNode()
                                        .put("index", Integer.parseInt(weight.getKey()))
                                        .set("value", weight.getValue()))
                                .toList())
                        .toList());
    }

    static Asked similarity(JsonNode body) {
        var fields = fields(body, "inputs", "parameters");
        var inputs = Fields.of(fields.json("inputs"), "inputs", List.of("source_sentence", "sentences"));
        var options = Fields.of(fields.json("parameters"), "parameters", List.of("truncate"), IDLE);
        var all = new ArrayList<>(List.of(inputs.requiredText("source_sentence")));
        all.addAll(texts(inputs, "sentences"));
        // Of vectors of length 1 the cosine is the product.
        return Asked.of(
                nodes(all), truncated(options).put("normalize_embeddings", true), answer -> products(answer.json()));
    }

    private static List<Float> products(JsonNode vectors) {
        var source = vectors.path(0);
        return IntStream.range(1, vectors.size())
                .mapToObj(i -> (float) IntStream.range(0, source.size())
                        .mapToDouble(j -> source.path(j).doubleValue()
                                * vectors.path(i).path(j).doubleValue())
                        .sum())
                .toList();
    }

    private static Asked rerank(JsonNode body) {
        // Two fields are of LiteLLM, which has them from Cohere.
        var fields =
                fields(body, "query", "texts", "raw_scores", "truncate", "return_text", "return_documents", "top_n");
        var texts = texts(fields, "texts");
        boolean withText = fields.bool("return_text", false) || fields.bool("return_documents", false);
        var ranking = new Ranking(
                fields.requiredText("query"),
                texts,
                fields.integer("top_n", 1, Integer.MAX_VALUE).orElse((long) texts.size()),
                fields.bool("raw_scores", false) ? "none" : "sigmoid",
                fields.bool("truncate", true));
        return ranking.asked((_, ranks) -> ranks.stream()
                .map(rank -> {
                    var node = JsonNodeFactory.instance
                            .objectNode()
                            .put("index", rank.index())
                            .put("score", rank.score());
                    return withText ? node.put("text", texts.get(rank.index())) : node;
                })
                .toList());
    }

    /// A text, a pair of texts, or a list of lists of one or two texts.
    private static Asked predict(JsonNode body) {
        var fields = fields(body, "inputs", "raw_scores", "truncate");
        var inputs = fields.json("inputs");
        ObjectNode parameters = truncated(fields).putNull("top_k");
        if (fields.bool("raw_scores", false)) {
            parameters.put("function_to_apply", "none");
        }
        return inputs.path(0).isArray()
                ? Asked.of(
                        Fields.elements(inputs, "inputs", "a list", TextEmbeddings::sequence), parameters, Answer::raw)
                : Asked.of(
                        List.of(sequence(inputs, "inputs")),
                        parameters,
                        answer -> answer.json().path(0));
    }

    private static ObjectNode sequence(JsonNode json, String name) {
        var texts = json.isArray() ? json.valueStream().toList() : List.of(json);
        if (texts.isEmpty() || texts.size() > 2 || !texts.stream().allMatch(JsonNode::isTextual)) {
            throw Excerpt.bad(name, json, "a text, or a list of one or two texts");
        }
        ObjectNode sequence = JsonNodeFactory.instance.objectNode().set("text", texts.getFirst());
        return texts.size() == 1 ? sequence : sequence.set("text_pair", texts.getLast());
    }

    private static Fields fields(JsonNode body, String... known) {
        return Fields.of(body, "body", List.of(known), IDLE);
    }

    private static ObjectNode truncated(Fields fields) {
        return JsonNodeFactory.instance.objectNode().put("truncation", fields.bool("truncate", true));
    }

    /// A text or a list of them, at least one.
    static List<String> texts(Fields fields, String name) {
        return fields.texts(name)
                .filter(texts -> !texts.isEmpty())
                .orElseThrow(() -> fields.json(name).isEmpty()
                                && fields.json(name).isArray()
                        ? new BadInputException(fields.name(name) + ": found an empty list, expected at least one text")
                        : fields.bad(name, "a text or a list of texts"));
    }

    static List<TextNode> nodes(List<String> texts) {
        return texts.stream().map(TextNode::valueOf).toList();
    }
}
