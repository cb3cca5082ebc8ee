package dev.berth.openinference;

import com.google.protobuf.ByteString;
import dev.berth.hooks.BadInputException;
import dev.berth.hooks.ElementType;
import dev.berth.hooks.Tensor;
import dev.berth.memory.RequestMemory;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/// What a request says of a tensor beside its elements, and makes the tensor of these.
///
/// @param place what messages call the tensor
/// @param size how many elements the shape has
/// @param contentType of elements that are bytes, such as `image/png`
record InferHeader(String place, String name, Datatype datatype, int[] shape, int size, Optional<String> contentType) {

    static InferHeader of(String place, String name, String datatype, long[] shape, Map<String, Object> parameters) {
        var type = Datatype.named(datatype, place);
        InferParameters.known(parameters, InferParameters.OF_INPUTS, place + ".parameters");
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
                name,
                type,
                Arrays.stream(shape).mapToInt(Math::toIntExact).toArray(),
                Arrays.stream(shape).anyMatch(length -> length == 0) ? 0 : (int) size,
                Optional.ofNullable(parameters.get(InferParameters.CONTENT_TYPE))
                        .map(Object::toString));
    }

    /// @param field that holds the elements
    void requireSize(int found, String field) {
        if (found != size) {
            throw new BadInputException("%s.%s: found %d elements, expected %d for the shape %s"
                    .formatted(place, field, found, size, Arrays.toString(shape)));
        }
    }

    InferTensor of(Tensor numbers) {
        return new InferTensor.Numbers(name, numbers.reshape(shape));
    }

    InferTensor of(List<ByteString> elements) {
        return new InferTensor.Bytes(name, shape, elements, contentType);
    }

    /// Reads elements as [InferTensor#raw] writes them.
    InferTensor ofRaw(ByteString bytes) {
        if (datatype.type().isEmpty()) {
            return of(elements(bytes));
        }
        var type = datatype.type().get();
        var raw = bytes.asReadOnlyByteBuffer();
        if (raw.remaining() != (long) size * type.bytes()) {
            throw new BadInputException("%s: found %d bytes, expected %d for %s%s"
                    .formatted(place, raw.remaining(), (long) size * type.bytes(), datatype, Arrays.toString(shape)));
        }
        if (type == ElementType.BOOL) {
            requireBooleans(raw);
        }
        return new InferTensor.Numbers(name, Tensor.of(type, raw, shape));
    }

    private void requireBooleans(ByteBuffer raw) {
        for (int i = raw.position(); i < raw.limit(); i++) {
            if ((raw.get(i) & 0xfe) != 0) {
                throw new BadInputException("%s: found the byte %d as element %d, expected 0 or 1 for BOOL"
                        .formatted(place, raw.get(i) & 0xff, i - raw.position()));
            }
        }
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
