package dev.berth.openai;

import com.fasterxml.jackson.databind.JsonNode;
import dev.berth.handler.text.TextForm;
import dev.berth.hooks.InvocationRequest;
import java.util.List;
import java.util.Optional;

/// OpenAI's form for the ready task of embeddings: texts alone, whose vectors may be cut.
public final class OpenAiEmbeddings implements TextForm {

    @Override
    public Optional<Asked> read(InvocationRequest request, JsonNode body, String task) {
        return task.equals("sentence-embeddings")
                ? Embeddings.of(request, body, List.of("dimensions")).map(asked -> asked)
                : Optional.empty();
    }
}
