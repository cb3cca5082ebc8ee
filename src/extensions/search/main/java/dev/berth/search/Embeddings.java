package dev.berth.search;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.berth.content.Json;
import dev.berth.handler.text.TextForm;
import dev.berth.hooks.InvocationResponse;
import dev.berth.hooks.MediaType;
import java.util.List;
import java.util.function.Function;

/// Texts that are embedded.
///
/// @param parameters of the task
/// @param written makes the client's answer of the embeddings
record Embeddings(SearchTexts texts, ObjectNode parameters, Function<List<?>, JsonNode> written)
        implements TextForm.Asked {

    @Override
    public ObjectNode body() {
        return TextForm.body(texts.texts(), parameters);
    }

    @Override
    public String named(String message) {
        return texts.named(message);
    }

    @Override
    public InvocationResponse answer(List<?> answers, int tokens) {
        return InvocationResponse.of(Json.write(written.apply(answers)), MediaType.JSON);
    }
}
