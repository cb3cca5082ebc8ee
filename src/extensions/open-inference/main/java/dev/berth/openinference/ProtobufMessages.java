package dev.berth.openinference;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import com.google.protobuf.UnsafeByteOperations;
import dev.berth.content.Excerpt;
import dev.berth.content.JsonTensors;
import dev.berth.hooks.BadInputException;
import dev.berth.hooks.InvocationRequest;
import dev.berth.hooks.InvocationResponse;
import dev.berth.http.NamedModels;
import dev.berth.memory.RequestMemory;
import dev.berth.openinference.Inference.ModelInferRequest;
import dev.berth.openinference.Inference.ModelInferResponse;
import dev.berth.openinference.Inference.ModelStreamInferResponse;
import java.io.IOException;
import java.util.Iterator;
import java.util.List;
import java.util.Map;

/// `ModelInferRequest` and `ModelInferResponse`. Tensors in raw contents are parts of the body, and
/// not copied.
final class ProtobufMessages implements Messages {

    /// What Triton's streams say of the last answer to a request.
    private static final String FINAL = "triton_final_response";

    private static final JsonNodeFactory NODES = JsonNodeFactory.instance;

    private final String model;
    private final boolean inStream;
    private boolean raw;

    /// @param inStream whether the answer is a `ModelStreamInferResponse`
    public ProtobufMessages(String model, boolean inStream) {
        this.model = model;
        this.inStream = inStream;
    }

    @Override
    public InferRequest read(InvocationRequest asked) throws IOException {
        var message = MessageTree.read(ModelInferRequest.getDescriptor(), asked.bytes());
        var name = message.path("model_name").asText();
        if (!name.isEmpty() && !name.equals(model)) {
            // It did not stand in front, or not as a whole.
            throw new BadInputException("model_name: found %s, expected %s".formatted(Excerpt.quoted(name), model));
        }
        var raws = message.path("raw_input_contents");
        int inputs = message.path("inputs").size();
        raw = !raws.isEmpty();
        if (raw && raws.size() != inputs) {
            throw new BadInputException(
                    "raw_input_contents: found %d, expected %d, one for each input".formatted(raws.size(), inputs));
        }
        var each = raws.iterator();
        return InferRequest.of(message, (header, input) -> elements(header, input.path("contents"), each));
    }

    private InferTensor elements(InferHeader header, JsonNode contents, Iterator<JsonNode> raws) {
        var place = header.place() + ".contents";
        if (raw) {
            if (contents.isObject()) {
                throw new BadInputException(place + ": found raw_input_contents too, expected one of them");
            }
            return header.ofRaw(MessageTree.bytes(raws.next()));
        }
        var fields = contents.propertyStream()
                .filter(field -> !field.getValue().isEmpty())
                .map(Map.Entry::getKey)
                .toList();
        if (fields.size() > 1) {
            throw new BadInputException(
                    "%s: found %s, expected one of them".formatted(place, String.join(" and ", fields)));
        }
        var expected = header.datatype().contents;
        if (fields.isEmpty() ? header.size() > 0 : !fields.contains(expected)) {
            throw new BadInputException("%s: found %s, expected %s for %s"
                    .formatted(place, fields.isEmpty() ? "none" : fields.getFirst(), expected, header.datatype()));
        }
        return header.ofList(fields.isEmpty() ? NODES.arrayNode() : contents.path(expected), "contents");
    }

    /// Raw contents answer raw contents, and half floats, which have no typed ones.
    @Override
    public InvocationResponse write(InferRequest asked, List<InferTensor> outputs) {
        boolean asBytes = raw || outputs.stream().anyMatch(output -> output.datatype() == Datatype.FP16);
        var response = NODES.objectNode()
                .put("model_name", model)
                .put("model_version", NamedModels.VERSION)
                .put("id", asked.id().orElse(""));
        var tensors = response.putArray("outputs");
        var raws = response.putArray("raw_output_contents");
        for (var output : outputs) {
            var tensor = output.described();
            output.contentType()
                    .ifPresent(
                            type -> parameter(tensor, InferRequest.CONTENT_TYPE).put("string_param", type));
            if (asBytes) {
                raws.addPOJO(UnsafeByteOperations.unsafeWrap(output.raw()));
            } else {
                tensor.putObject("contents").set(output.datatype().contents, list(output));
            }
            tensors.add(tensor);
        }
        if (inStream) {
            parameter(response, FINAL).put("bool_param", true);
        }
        var frame = inStream
                ? Grpc.frame(
                        ModelStreamInferResponse.getDescriptor(),
                        NODES.objectNode().set("infer_response", response))
                : Grpc.frame(ModelInferResponse.getDescriptor(), response);
        return InvocationResponse.of(frame, Grpc.TYPE);
    }

    /// @return its value, to be filled
    private static ObjectNode parameter(ObjectNode of, String name) {
        return of.withArrayProperty("parameters").addObject().put("key", name).putObject("value");
    }

    private static JsonNode list(InferTensor output) {
        if (output.body().isPresent()) {
            return NODES.arrayNode().addPOJO(output.body().get());
        }
        var tensor = output.tensor();
        RequestMemory.charge(64L * tensor.size());
        return JsonTensors.writeToRead(tensor.reshape(tensor.size()));
    }
}
