package dev.berth.openinference;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import com.google.protobuf.UnsafeByteOperations;
import dev.berth.content.Excerpt;
import dev.berth.content.Fields;
import dev.berth.content.Json;
import dev.berth.hooks.BadInputException;
import dev.berth.hooks.InvocationRequest;
import dev.berth.hooks.InvocationResponse;
import dev.berth.hooks.MediaType;
import dev.berth.http.NamedModels;
import dev.berth.json.JsonText;
import dev.berth.memory.RequestMemory;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalInt;

/// JSON, behind which the bytes of some tensors may stand: the binary tensor data extension.
final class JsonMessages implements Messages {

    /// Of a body of JSON and the bytes of tensors behind it.
    static final MediaType BINARY = MediaType.parse("application/octet-stream").orElseThrow();

    /// The parameter that says how many of those bytes are a tensor's.
    static final String BINARY_SIZE = "binary_data_size";

    private final String model;
    private final OptionalInt headerLength;
    private int answered;

    /// @param headerLength how much of the body is JSON; empty: all of it
    JsonMessages(String model, OptionalInt headerLength) {
        this.model = model;
        this.headerLength = headerLength;
    }

    /// How much of the answer is JSON; empty: all of it.
    public OptionalInt answered() {
        return answered == 0 ? OptionalInt.empty() : OptionalInt.of(answered);
    }

    @Override
    public InferRequest read(InvocationRequest asked) throws IOException {
        var bytes = asked.bytes();
        int length = headerLength.orElse(bytes.length);
        if (length > bytes.length) {
            throw new BadInputException(
                    "Inference-Header-Content-Length: found %d, expected at most the %d bytes of the body"
                            .formatted(length, bytes.length));
        }
        var body = Json.parse(
                asked.withBody(new ByteArrayInputStream(bytes, 0, length)).text(), "body");
        var binary = ByteBuffer.wrap(bytes, length, bytes.length - length);
        var request = InferRequest.of(body, (header, input) -> elements(header, input, binary));
        if (binary.hasRemaining()) {
            throw new BadInputException(
                    "body: found %d bytes that belong to no input, expected none; each binary input has its %s"
                            .formatted(binary.remaining(), BINARY_SIZE));
        }
        return request;
    }

    private static InferTensor elements(InferHeader header, JsonNode input, ByteBuffer binary) {
        var length = Fields.any(input.path("parameters"), header.place() + ".parameters")
                .integer(BINARY_SIZE, 0, binary.remaining());
        if (length.isEmpty()) {
            if (!input.path("data").isArray()) {
                throw Excerpt.bad(header.place() + ".data", input.path("data"), "a list, or parameters." + BINARY_SIZE);
            }
            return header.ofList(input.path("data"), "data");
        }
        int size = length.get().intValue();
        var raw = binary.slice(binary.position(), size);
        binary.position(binary.position() + size);
        return header.ofRaw(UnsafeByteOperations.unsafeWrap(raw));
    }

    @Override
    public InvocationResponse write(InferRequest asked, List<InferTensor> outputs) {
        var answer = JsonNodeFactory.instance
                .objectNode()
                .put("model_name", model)
                .put("model_version", NamedModels.VERSION);
        asked.id().ifPresent(id -> answer.put("id", id));
        var binary = new ArrayList<ByteBuffer>();
        var list = answer.putArray("outputs");
        outputs.forEach(output -> list.add(written(output, asked.asBytes(output.name()), binary)));
        var json = JsonText.bytes(answer);
        if (binary.isEmpty()) {
            return InvocationResponse.of(json, MediaType.JSON);
        }
        answered = json.length;
        int length = binary.stream().mapToInt(ByteBuffer::remaining).sum();
        RequestMemory.charge(length);
        var body = ByteBuffer.allocate(json.length + length).put(json);
        binary.forEach(body::put);
        return InvocationResponse.of(body.array(), BINARY);
    }

    private static ObjectNode written(InferTensor output, boolean asBytes, List<ByteBuffer> binary) {
        var json = output.described();
        var parameters = json.putObject("parameters");
        output.contentType().ifPresent(type -> parameters.put(InferRequest.CONTENT_TYPE, type));
        if (asBytes) {
            var raw = output.raw();
            parameters.put(BINARY_SIZE, raw.remaining());
            binary.add(raw);
        } else {
            var tensor = output.tensor();
            RequestMemory.charge(2L * Long.BYTES * tensor.size());
            json.putPOJO("data", tensor.reshape(tensor.size()));
        }
        if (parameters.isEmpty()) {
            json.remove("parameters");
        }
        return json;
    }
}
