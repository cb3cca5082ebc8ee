package dev.berth.openinference;

import static dev.berth.openinference.InferParameters.BINARY_DATA;
import static dev.berth.openinference.InferParameters.BINARY_DATA_OUTPUT;
import static dev.berth.openinference.InferParameters.BINARY_DATA_SIZE;
import static dev.berth.openinference.InferParameters.CONTENT_TYPE;
import static dev.berth.openinference.InferParameters.OF_OUTPUTS;

import com.fasterxml.jackson.databind.JsonNode;
import com.google.protobuf.ByteString;
import com.google.protobuf.UnsafeByteOperations;
import dev.berth.content.Excerpt;
import dev.berth.content.Json;
import dev.berth.content.JsonTensors;
import dev.berth.hooks.BadInputException;
import dev.berth.hooks.InvocationRequest;
import dev.berth.hooks.InvocationResponse;
import dev.berth.hooks.MediaType;
import dev.berth.http.NamedModels;
import dev.berth.memory.RequestMemory;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;

/// JSON, behind which the bytes of some tensors may stand: the binary tensor data extension.
final class JsonMessages implements Messages {

    /// Of a body of JSON and the bytes of tensors behind it.
    static final MediaType BINARY = MediaType.parse("application/octet-stream").orElseThrow();

    private static final String BASE64 = "base64";

    private final String model;
    private final OptionalInt headerLength;
    private Optional<String> id = Optional.empty();

    /// Whether an output is to come as bytes, by the names of those that say so; else as the request says.
    private final Map<String, Boolean> binaryOutputs = new HashMap<>();

    private boolean isBinary;
    private int answered;

    /// @param headerLength how much of the body is JSON; empty: all of it
    public JsonMessages(String model, OptionalInt headerLength) {
        this.model = model;
        this.headerLength = headerLength;
    }

    /// How much of the answer is JSON; empty: all of it.
    public OptionalInt answered() {
        return answered == 0 ? OptionalInt.empty() : OptionalInt.of(answered);
    }

    @Override
    public Request read(InvocationRequest asked) throws IOException {
        var bytes = asked.bytes();
        int length = headerLength.orElse(bytes.length);
        if (length > bytes.length) {
            throw new BadInputException(
                    "Inference-Header-Content-Length: found %d, expected at most the %d bytes of the body"
                            .formatted(length, bytes.length));
        }
        var body = Json.parse(
                asked.withBody(new ByteArrayInputStream(bytes, 0, length)).text(), "body");
        require(body.isObject(), body, "body", "{\"inputs\": […]}");
        var binary = ByteBuffer.wrap(bytes, length, bytes.length - length);
        var inputs = new ArrayList<InferTensor>();
        for (var input : list(body, "inputs")) {
            inputs.add(input(input, "inputs[%d]".formatted(inputs.size()), binary));
        }
        if (binary.hasRemaining()) {
            throw new BadInputException(
                    "body: found %d bytes that belong to no input, expected none; each binary input has its %s"
                            .formatted(binary.remaining(), BINARY_DATA_SIZE));
        }
        var parameters = parameters(body, "parameters");
        id = body.has("id") ? Optional.of(text(body.path("id"), "id")) : Optional.empty();
        isBinary = Boolean.TRUE.equals(parameters.get(BINARY_DATA_OUTPUT));
        return new Request(inputs, parameters, wanted(body));
    }

    private static InferTensor input(JsonNode input, String place, ByteBuffer binary) {
        var parameters = parameters(input, place + ".parameters");
        var header = InferHeader.of(
                place,
                text(input.path("name"), place + ".name"),
                text(input.path("datatype"), place + ".datatype"),
                shape(input.path("shape"), place + ".shape"),
                parameters);
        if (!parameters.containsKey(BINARY_DATA_SIZE)) {
            return data(header, input.path("data"));
        }
        if (!(parameters.get(BINARY_DATA_SIZE) instanceof Number count)
                || count.longValue() < 0
                || count.longValue() > binary.remaining()) {
            throw new BadInputException(
                    "%s.parameters.%s: found %s, expected at most the %d bytes that are left behind Inference-Header-Content-Length"
                            .formatted(place, BINARY_DATA_SIZE, parameters.get(BINARY_DATA_SIZE), binary.remaining()));
        }
        var raw = binary.slice(binary.position(), count.intValue());
        binary.position(binary.position() + count.intValue());
        return header.ofRaw(UnsafeByteOperations.unsafeWrap(raw));
    }

    /// A list of the elements, flat or nested as the shape is.
    private static InferTensor data(InferHeader header, JsonNode data) {
        var place = header.place() + ".data";
        require(data.isArray(), data, place, "a list, or parameters." + BINARY_DATA_SIZE);
        if (header.datatype().type().isPresent()) {
            var tensor = JsonTensors.read(data, header.datatype().type().get(), place);
            header.requireSize(tensor.size(), "data");
            return header.of(tensor);
        }
        var elements = new ArrayList<ByteString>();
        addTexts(data, elements, place);
        header.requireSize(elements.size(), "data");
        return header.of(elements);
    }

    private static void addTexts(JsonNode value, List<ByteString> elements, String place) {
        if (value.isArray()) {
            value.forEach(element -> addTexts(element, elements, place));
            return;
        }
        var text = text(value, "%s[%d]".formatted(place, elements.size()));
        RequestMemory.charge(InferTensor.ELEMENT + 3L * text.length());
        elements.add(ByteString.copyFromUtf8(text));
    }

    private List<String> wanted(JsonNode body) {
        var wanted = new ArrayList<String>();
        for (var output : body.has("outputs") ? list(body, "outputs") : List.<JsonNode>of()) {
            var place = "outputs[%d]".formatted(wanted.size());
            var parameters =
                    InferParameters.known(parameters(output, place + ".parameters"), OF_OUTPUTS, place + ".parameters");
            var name = text(output.path("name"), place + ".name");
            wanted.add(name);
            Optional.ofNullable(parameters.get(BINARY_DATA))
                    .ifPresent(value -> binaryOutputs.putIfAbsent(name, value.equals(true)));
        }
        return wanted;
    }

    @Override
    public InvocationResponse write(List<InferTensor> outputs) {
        var answer = new LinkedHashMap<String, Object>();
        answer.put("model_name", model);
        answer.put("model_version", NamedModels.VERSION);
        id.ifPresent(id -> answer.put("id", id));
        var binary = new ArrayList<ByteBuffer>();
        answer.put(
                "outputs",
                outputs.stream().map(output -> output(output, binary)).toList());
        var json = Json.write(answer).getBytes(StandardCharsets.UTF_8);
        if (binary.isEmpty()) {
            return InvocationResponse.of(json, MediaType.JSON);
        }
        answered = json.length;
        int length = binary.stream().mapToInt(ByteBuffer::remaining).sum();
        RequestMemory.charge(length);
        var body = ByteBuffer.allocate(json.length + length).put(json);
        binary.forEach(part -> body.put(part.duplicate()));
        return InvocationResponse.of(body.array(), BINARY);
    }

    private Map<String, Object> output(InferTensor output, List<ByteBuffer> binary) {
        var json = new LinkedHashMap<String, Object>();
        json.put("name", output.name());
        json.put("datatype", output.datatype());
        json.put("shape", output.shape());
        var parameters = new LinkedHashMap<String, Object>();
        output.contentType().ifPresent(type -> parameters.put(CONTENT_TYPE, type));
        Map<String, Object> data = Map.of();
        if (binaryOutputs.getOrDefault(output.name(), isBinary)) {
            var raw = output.raw();
            parameters.put(BINARY_DATA_SIZE, raw.remaining());
            binary.add(raw);
        } else {
            data = Map.of("data", data(output, parameters));
        }
        if (!parameters.isEmpty()) {
            json.put("parameters", parameters);
        }
        json.putAll(data);
        return json;
    }

    private static Object data(InferTensor output, Map<String, Object> parameters) {
        return switch (output) {
            case InferTensor.Numbers(var _, var tensor) -> {
                RequestMemory.charge(120L * tensor.size());
                yield JsonTensors.write(tensor.reshape(tensor.size()));
            }
            case InferTensor.Bytes bytes -> {
                RequestMemory.charge(4L * bytes.length());
                if (bytes.elements().stream().allMatch(ByteString::isValidUtf8)) {
                    yield bytes.elements().stream()
                            .map(ByteString::toStringUtf8)
                            .toList();
                }
                parameters.putIfAbsent(CONTENT_TYPE, BASE64);
                yield bytes.elements().stream().map(InferTensor::base64).toList();
            }
        };
    }

    private static List<JsonNode> list(JsonNode object, String field) {
        var list = object.path(field);
        require(list.isArray(), list, field, "a list");
        return list.valueStream().toList();
    }

    private static long[] shape(JsonNode shape, String place) {
        boolean isWhole =
                shape.valueStream().allMatch(length -> length.isIntegralNumber() && length.canConvertToLong());
        require(shape.isArray() && isWhole, shape, place, "a list of whole numbers");
        return shape.valueStream().mapToLong(JsonNode::longValue).toArray();
    }

    private static String text(JsonNode value, String place) {
        require(value.isTextual(), value, place, "a text");
        return value.textValue();
    }

    private static void require(boolean isSo, JsonNode value, String place, String expected) {
        if (!isSo) {
            throw Excerpt.bad(place, value, expected);
        }
    }

    /// Texts, numbers and booleans by name.
    private static Map<String, Object> parameters(JsonNode object, String place) {
        var parameters = object.path("parameters");
        boolean isNone = parameters.isMissingNode() || parameters.isNull();
        require(parameters.isObject() || isNone, parameters, place, "an object");
        var values = new LinkedHashMap<String, Object>();
        parameters.forEachEntry((name, value) -> {
            if (!value.isNull()) {
                values.put(
                        name,
                        switch (value.getNodeType()) {
                            case STRING -> value.textValue();
                            case NUMBER -> value.numberValue();
                            case BOOLEAN -> value.booleanValue();
                            // Hooks may have parameters of any form.
                            default -> value;
                        });
            }
        });
        return values;
    }
}
