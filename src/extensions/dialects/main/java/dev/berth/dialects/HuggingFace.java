package dev.berth.dialects;

import static dev.berth.dialects.ClientPath.CLASSIFICATION;
import static dev.berth.dialects.ClientPath.EMBEDDINGS;

import com.fasterxml.jackson.databind.JsonNode;
import dev.berth.content.Fields;
import dev.berth.dialects.JsonDialect.Answer;
import dev.berth.dialects.JsonDialect.Asked;
import dev.berth.handler.task.Tasks;
import dev.berth.hooks.MediaType;
import dev.berth.serving.Dialect;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Supplier;

/// The protocol of Hugging Face's inference API and of its endpoints, which have one model: `POST
/// /`, as `InferenceClient` of `huggingface_hub` asks.
///
/// Tasks are asked as at `/invocations`, with two differences. Classes of a text alone are a list
/// in a list. Embeddings are asked as those of [TextEmbeddings], which serves them there too, or
/// with a sentence that is compared with others.
///
/// Source: `packages/tasks` of huggingface.js, and the client itself.
final class HuggingFace {

    static final ClientPath ROOT = new ClientPath("/", "inputs", dialects());

    private HuggingFace() {}

    private static Map<String, Supplier<Dialect>> dialects() {
        var dialects = new HashMap<String, Supplier<Dialect>>();
        Tasks.ALL.keySet().forEach(task -> dialects.put(task, () -> Dialect.NONE));
        dialects.put(CLASSIFICATION, () -> new JsonDialect(MediaType.JSON, HuggingFace::classify));
        dialects.put(EMBEDDINGS, () -> new JsonDialect(MediaType.JSON, HuggingFace::embed));
        return Map.copyOf(dialects);
    }

    private static Asked embed(JsonNode body) {
        return body.path("inputs").isObject() ? TextEmbeddings.similarity(body) : TextEmbeddings.embed(body);
    }

    /// All labels, unless `top_k` says how many.
    private static Asked classify(JsonNode body) {
        var fields = Fields.of(body, "body", List.of("inputs", "parameters", "options"));
        var inputs = fields.json("inputs");
        var parameters = fields.object("parameters").deepCopy();
        if (!parameters.has("top_k")) {
            parameters.putNull("top_k");
        }
        return Asked.of(inputs.isArray() ? inputs.valueStream().toList() : List.of(inputs), parameters, Answer::raw);
    }
}
