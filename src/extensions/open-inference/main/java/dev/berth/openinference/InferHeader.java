package dev.berth.openinference;

import com.fasterxml.jackson.databind.JsonNode;
import com.google.protobuf.ByteString;
import dev.berth.content.Excerpt;
import dev.berth.content.Fields;
import dev.berth.content.JsonTensors;
import dev.berth.hooks.BadInputException;
import dev.berth.hooks.Tensor;
import dev.berth.memory.RequestMemory;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;

/// What a request says of a tensor beside its elements, and makes the tensor of these.
///
/// @param place what messages call the tensor
/// @param size how many elements the shape has
/// @param contentType of elements that are bytes, such as `image/png`
record InferHeader(String place, String name, Datatype datatype, int[] shape, int size, Optional<String> contentType) {

    static InferHeader of(JsonNode input, String place) {
        var fields = Fields.any(input, place);
        var type = Datatype.named(fields.requiredText("datatype"), place);
        var lengths = fields.json("shape");
        if (!lengths.isArray()
                || !lengths.valueStream().allMatch(length -> length.isIntegralNumber() && length.canConvertToLong())) {
            throw fields.bad("shape", "a list of whole numbers");
        }
        var shape = lengths.valueStream().mapToLong(JsonNode::longValue).toArray();
        long size = 1;
        for (long length : shape) {
            // Lists in which there are no elements are as many.
            if (length < 0 || length > Integer.MAX_VALUE || (size *= Math.max(1, length)) > Integer.MAX_VALUE) {
                throw new BadInputException("%s.shape: found %s, expected lengths of at least 0 and at most %d elements"
                        .formatted(place, Arrays.toString(shape), Integer.MAX_VALUE));
            }
        }
        return new InferHeader(
                place,
                fields.requiredText("name"),
                type,
                Arrays.stream(shape).mapToInt(Math::toIntExact).toArray(),
                Arrays.stream(shape).anyMatch(length -> length == 0) ? 0 : (int) size,
                InferRequest.contentType(
                        InferRequest.parameters(fields, JsonMessages.BINARY_SIZE, InferRequest.CONTENT_TYPE)));
    }

    /// Reads a list of the elements, flat or nested as the shape is.
    ///
    /// @param field that has it
    InferTensor ofList(JsonNode list, String field) {
        var what = "%s.%s".formatted(place, field);
        if (datatype != Datatype.BYTES) {
            var numbers = JsonTensors.read(list, datatype.type, what);
            requireSize(numbers.size(), what);
            return InferTensor.of(name, numbers.reshape(shape), contentType);
        }
        var elements = new ArrayList<ByteString>();
        add(list, elements, what);
        requireSize(elements.size(), what);
        return ofBytes(elements);
    }

    private InferTensor ofBytes(List<ByteString> elements) {
        return size == 1 && (contentType.isPresent() || name.equals(InferDialect.CONTENT))
                ? InferTensor.ofBody(name, shape, elements.getFirst(), contentType)
                : InferTensor.of(name, InferTensor.texts(elements, shape), contentType);
    }

    private static void add(JsonNode value, List<ByteString> elements, String what) {
        if (value.isArray()) {
            value.forEach(element -> add(element, elements, what));
            return;
        }
        if (!value.isPojo() && !value.isTextual()) {
            throw Excerpt.bad("%s[%d]".formatted(what, elements.size()), value, "a text");
        }
        RequestMemory.charge(InferTensor.ELEMENT);
        elements.add(MessageTree.bytes(value));
    }

    private void requireSize(int found, String what) {
        if (found != size) {
            throw new BadInputException("%s: found %d elements, expected %d for the shape %s"
                    .formatted(what, found, size, Arrays.toString(shape)));
        }
    }

    /// Reads elements as [InferTensor#raw] writes them.
    InferTensor ofRaw(ByteString bytes) {
        if (datatype == Datatype.BYTES) {
            return ofBytes(elements(bytes));
        }
        var type = datatype.type;
        var raw = bytes.asReadOnlyByteBuffer();
        if (raw.remaining() != (long) size * type.bytes()) {
            throw new BadInputException("%s: found %d bytes, expected %d for %s%s"
                    .formatted(place, raw.remaining(), (long) size * type.bytes(), datatype, Arrays.toString(shape)));
        }
        return InferTensor.of(name, Tensor.of(type, raw, shape), contentType);
    }

    /// Parts of the bytes.
    private List<ByteString> elements(ByteString bytes) {
        var raw = bytes.asReadOnlyByteBuffer().slice().order(ByteOrder.LITTLE_ENDIAN);
        var elements = new ArrayList<ByteString>();
        while (raw.remaining() >= Integer.BYTES && elements.size() < size) {
            int length = raw.getInt();
            if (length < 0 || length > raw.remaining()) {
                throw new BadInputException(
                        "%s: found %d as the length of element %d, expected at most the %d bytes that are left"
                                .formatted(place, Integer.toUnsignedLong(length), elements.size(), raw.remaining()));
            }
            RequestMemory.charge(InferTensor.ELEMENT);
            int end = raw.position() + length;
            elements.add(bytes.substring(raw.position(), end));
            raw.position(end);
        }
        if (elements.size() != size || raw.hasRemaining()) {
            throw new BadInputException("%s: found %d elements and %d bytes behind them, expected %d elements of BYTES"
                    .formatted(place, elements.size(), raw.remaining(), size));
        }
        return elements;
    }
}
