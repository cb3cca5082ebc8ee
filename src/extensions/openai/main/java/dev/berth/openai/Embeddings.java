package dev.berth.openai;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import com.fasterxml.jackson.databind.node.TextNode;
import dev.berth.content.Json;
import dev.berth.handler.text.TextForm;
import dev.berth.handler.text.Vectors;
import dev.berth.hooks.BadInputException;
import dev.berth.hooks.InvocationRequest;
import dev.berth.hooks.InvocationResponse;
import dev.berth.hooks.MediaType;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Arrays;
import java.util.Collection;
import java.util.List;
import java.util.Optional;

/// A request of embeddings, also with the fields that Jina's clients add: `embedding_type` is
/// another name of `encoding_format`, `normalized` asks for length 1, and `task`, which says what
/// the texts are for, changes nothing.
///
/// @param inputs at least one
/// @param base64 whether vectors are their little-endian bytes, which OpenAI's clients ask for by
///   themselves
/// @param dimensions how many numbers a vector should have
/// @param shortens whether the model's vectors can be cut to that, and scaled to length 1
/// @param normalised whether vectors are scaled to length 1
/// @param model the name that the caller gave
public record Embeddings(
        List<Input> inputs,
        boolean base64,
        Optional<Long> dimensions,
        boolean shortens,
        boolean normalised,
        String model)
        implements TextForm.Asked {

    private static final List<String> FORMATS = List.of("float", "base64");

    public static final String PATH = Api.EMBEDDINGS;

    /// Nothing where the request asks for something else.
    ///
    /// @param does `dimensions` where the first numbers of a vector are worth something alone
    /// @throws BadInputException naming a field that is wrong or unknown, or that the model can't do
    public static Optional<Embeddings> of(InvocationRequest request, JsonNode body, Collection<String> does) {
        var read = List.of("encoding_format", "dimensions", "embedding_type", "normalized", "task");
        return Api.fields(request, body, PATH, "input", read, does)
                .map(fields -> new Embeddings(
                        Input.all(fields.json("input"), "input"),
                        fields.word("encoding_format", FORMATS)
                                .or(() -> fields.word("embedding_type", FORMATS))
                                .filter("base64"::equals)
                                .isPresent(),
                        fields.integer("dimensions", 1, Integer.MAX_VALUE),
                        does.contains("dimensions"),
                        fields.bool("normalized", false),
                        fields.text("model").orElse("model")));
    }

    /// @throws BadInputException when an input is no text
    @Override
    public ObjectNode body() {
        var texts = inputs.stream().map(input -> TextNode.valueOf(input.text())).toList();
        return TextForm.body(texts, JsonNodeFactory.instance.objectNode());
    }

    @Override
    public String named(String message) {
        return TextForm.named(message, "input", inputs.getFirst().name().equals("input"));
    }

    /// @param answers the vectors
    /// @throws BadInputException when they can't have the dimensions that are asked for
    @Override
    public InvocationResponse answer(List<?> answers, int tokens) {
        var answer = JsonNodeFactory.instance.objectNode().put("object", "list");
        var data = answer.putArray("data");
        for (var vector : answers) {
            data.addObject()
                    .put("object", "embedding")
                    .put("index", data.size() - 1)
                    .putPOJO("embedding", written(cut((float[]) vector)));
        }
        answer.put("model", model)
                .putObject("usage")
                .put("prompt_tokens", tokens)
                .put("total_tokens", tokens);
        return InvocationResponse.of(Json.write(answer), MediaType.JSON);
    }

    private float[] cut(float[] vector) {
        if (dimensions.isEmpty() || (!shortens && dimensions.get() == vector.length)) {
            // The vector may be in a cache, too.
            return normalised ? Vectors.normalised(vector.clone()) : vector;
        }
        if (!shortens || dimensions.get() > vector.length) {
            throw new BadInputException("dimensions: found %d, expected %s the %d of this model's vectors"
                    .formatted(dimensions.get(), shortens ? "at most" : "nothing or", vector.length));
        }
        return Vectors.normalised(Arrays.copyOf(vector, dimensions.get().intValue()));
    }

    private Object written(float[] vector) {
        if (!base64) {
            return vector;
        }
        var bytes = ByteBuffer.allocate(Float.BYTES * vector.length).order(ByteOrder.LITTLE_ENDIAN);
        bytes.asFloatBuffer().put(vector);
        // Jackson writes bytes as base64.
        return bytes.array();
    }
}
