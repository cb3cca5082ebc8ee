package dev.berth.openai;

import com.fasterxml.jackson.databind.JsonNode;
import dev.berth.handler.text.EmbeddingForm;
import dev.berth.hooks.InvocationRequest;
import java.util.List;
import java.util.Optional;

/// OpenAI's form for the ready task of embeddings: texts alone, whose vectors may be cut.
public final class OpenAiEmbeddings implements EmbeddingForm {

    @Override
    public Optional<Asked> read(InvocationRequest request, JsonNode body) {
        var asked = Embeddings.of(request, body, List.of("dimensions"));
        asked.ifPresent(embeddings -> embeddings.inputs().forEach(Input::text));
        return asked.map(embeddings -> embeddings);
    }
}
