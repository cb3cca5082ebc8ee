package dev.berth.openinference;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.berth.content.Excerpt;
import java.util.List;
import java.util.Optional;
import java.util.function.BiFunction;
import java.util.stream.IntStream;

/// What a client asks a model.
///
/// @param parameters those of the model, too
/// @param wanted the outputs that are asked for; empty: all
record InferRequest(Optional<String> id, List<InferTensor> inputs, ObjectNode parameters, List<Wanted> wanted) {

    /// An output that is asked for.
    ///
    /// @param asBytes whether it is to come as bytes; empty: as the request says
    record Wanted(String name, Optional<Boolean> asBytes) {}

    /// Makes the tensor of an input.
    interface Elements {
        InferTensor of(InferHeader header, JsonNode input);
    }

    /// Reads what JSON and protobuf have in common.
    ///
    /// @param request the whole of it, as JSON
    static InferRequest of(JsonNode request, Elements elements) {
        return new InferRequest(
                request.has("id") ? Optional.of(InferHeader.text(request.path("id"), "id")) : Optional.empty(),
                each(request, "inputs", (input, place) -> elements.of(InferHeader.of(input, place), input)),
                InferParameters.of(request, "parameters"),
                request.has("outputs") ? each(request, "outputs", InferRequest::wanted) : List.of());
    }

    private static Wanted wanted(JsonNode output, String place) {
        var parameters = InferParameters.known(output, InferParameters.OF_OUTPUTS, place + ".parameters");
        return new Wanted(
                InferHeader.text(output.path("name"), place + ".name"),
                parameters.optional(InferParameters.BINARY_DATA).map(JsonNode::booleanValue));
    }

    private static <T> List<T> each(JsonNode request, String field, BiFunction<JsonNode, String, T> read) {
        var list = request.path(field);
        if (!list.isArray()) {
            throw Excerpt.bad(field, list, "a list");
        }
        return IntStream.range(0, list.size())
                .mapToObj(i -> read.apply(list.path(i), "%s[%d]".formatted(field, i)))
                .toList();
    }

    /// Whether an output is to come as bytes behind the JSON.
    boolean asBytes(String output) {
        return wanted.stream()
                .filter(one -> one.name.equals(output))
                .flatMap(one -> one.asBytes.stream())
                .findFirst()
                .orElse(parameters.path(InferParameters.BINARY_DATA_OUTPUT).booleanValue());
    }
}
