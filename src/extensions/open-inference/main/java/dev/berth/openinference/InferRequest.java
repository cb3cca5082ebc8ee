package dev.berth.openinference;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.berth.content.Fields;
import dev.berth.content.Json;
import dev.berth.hooks.InvocationRequest;
import dev.berth.hooks.MediaType;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.TimeUnit;

/// What a client asks a model. A parameter of the protocol or of its extensions that nothing is done
/// for is refused by its name: a client would take the answer for another one.
///
/// @param parameters those of the protocol
/// @param ofTheModel the parameters that are the model's own
/// @param wanted the outputs that are asked for; empty: all
record InferRequest(
        Optional<String> id, List<InferTensor> inputs, Fields parameters, ObjectNode ofTheModel, List<Wanted> wanted) {

    static final String PARAMETERS = "parameters";
    static final String CONTENT_TYPE = "content_type";

    /// The parameters of the protocol, with the values of those that nothing is done for. An answer in
    /// Triton's streams always says that it is the last one.
    private static final JsonNode KNOWN = Json.parse("""
          {"binary_data_output": [], "content_type": [], "timeout": [], "triton_enable_empty_final_response": [],
           "priority": [0, ""], "sequence_id": [0, ""], "sequence_start": [false, 0], "sequence_end": [false, 0]}
          """, "fields");

    /// MLServer's names for what becomes of tensors anyhow.
    private static final List<String> AS_IT_IS = List.of("np", "pd", "str");

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
        var fields = Fields.any(request, "body");
        var all = parameters(fields);
        var ofTheModel = all.deepCopy().remove(names(KNOWN));
        var parameters = Fields.of(all, PARAMETERS, names(ofTheModel), KNOWN);
        var _ = contentType(parameters);
        return new InferRequest(
                fields.text("id"),
                fields.list("inputs", (input, place) -> elements.of(InferHeader.of(input, place), input)),
                parameters,
                ofTheModel,
                fields.list("outputs", (output, place) -> wanted(Fields.any(output, place))));
    }

    private static List<String> names(JsonNode object) {
        return object.propertyStream().map(Map.Entry::getKey).toList();
    }

    private static Wanted wanted(Fields output) {
        return new Wanted(
                output.requiredText("name"), parameters(output, "binary_data").bool("binary_data"));
    }

    /// The parameters of an input or an output, of which there may be no others.
    static Fields parameters(Fields object, String... known) {
        return Fields.of(parameters(object), object.name(PARAMETERS), List.of(known));
    }

    /// Clients send null for those that they leave out.
    private static ObjectNode parameters(Fields object) {
        return object.object(PARAMETERS).removeIf(JsonNode::isNull);
    }

    /// What elements are, such as `image/png`.
    static Optional<String> contentType(Fields parameters) {
        var type = parameters.text(CONTENT_TYPE);
        if (type.filter(name ->
                        !AS_IT_IS.contains(name) && MediaType.parse(name).isEmpty())
                .isPresent()) {
            throw parameters.bad(CONTENT_TYPE, "a media type such as image/png, or one of " + AS_IT_IS);
        }
        return type;
    }

    /// A request with the time that the parameters leave it, from now on, in microseconds.
    InvocationRequest inTime(InvocationRequest asked) {
        long nanos = TimeUnit.MICROSECONDS.toNanos(
                parameters.integer("timeout", 0, Long.MAX_VALUE).orElse(0L));
        return nanos == 0 || nanos >= asked.remaining().toNanos()
                ? asked
                : asked.withDeadline(System.nanoTime() + nanos);
    }

    /// Whether an output is to come as bytes behind the JSON.
    boolean asBytes(String output) {
        return wanted.stream()
                .filter(one -> one.name.equals(output))
                .flatMap(one -> one.asBytes.stream())
                .findFirst()
                .orElseGet(() -> parameters.bool("binary_data_output", false));
    }
}
