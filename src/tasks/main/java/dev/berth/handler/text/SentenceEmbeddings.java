package dev.berth.handler.text;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.berth.handler.task.HubFiles;
import dev.berth.handler.task.HubTask;
import java.util.Optional;

/// The task of [EmbeddingHandler].
public final class SentenceEmbeddings extends HubTask {

    static final String MODULES = "modules.json";

    /// How far the cosine of two vectors that are the same may be from 1.
    private static final double SAME_VECTOR = 0.02;

    public SentenceEmbeddings() {
        super("sentence-embeddings", "Model", EmbeddingHandler::new);
    }

    /// A model without a head that has a tokenizer, or one with the modules of sentence-transformers.
    @Override
    public Optional<String> shownBy(HubFiles model) {
        var name = model.architecture();
        boolean isHeadless = name.endsWith(architecture()) && !name.contains("Head");
        if (model.has(MODULES)) {
            return Optional.of(MODULES).filter(_ -> isHeadless || name.endsWith("ForMaskedLM"));
        }
        return Optional.of(name).filter(_ -> isHeadless && model.has("tokenizer.json"));
    }

    @Override
    public void describe(HubFiles model, ObjectNode json) {
        model.sentences(json);
    }

    /// By the cosine of the vectors.
    @Override
    public double difference(JsonNode one, JsonNode other) {
        double product = 0;
        double squares = 0;
        double others = 0;
        for (int i = 0; i < one.size(); i++) {
            double a = one.path(i).asDouble();
            double b = other.path(i).asDouble();
            product += a * b;
            squares += a * a;
            others += b * b;
        }
        return 1 - product / Math.max(Math.sqrt(squares * others), Double.MIN_NORMAL);
    }

    @Override
    public boolean isSame(JsonNode one, JsonNode other, JsonNode json, double near) {
        return difference(one, other) <= SAME_VECTOR;
    }
}
