package dev.berth.openinference;

import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import com.google.protobuf.ByteString;
import dev.berth.hooks.ElementType;
import dev.berth.hooks.Tensor;
import dev.berth.memory.RequestMemory;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Arrays;
import java.util.Base64;
import java.util.List;
import java.util.Optional;

/// A named tensor of a request or an answer.
sealed interface InferTensor {

    /// What an element of BYTES costs beside its bytes.
    int ELEMENT = 40;

    String name();

    Datatype datatype();

    int[] shape();

    /// What the elements are, such as `image/png`: the parameter `content_type`.
    Optional<String> contentType();

    /// The elements, as hooks and JSON have them.
    Tensor tensor();

    /// The elements as the protocol has them outside of JSON and of typed contents: little-endian,
    /// and each of BYTES behind its length in 4 bytes.
    ByteBuffer raw();

    /// All but the parameters and the elements, as JSON and protobuf have it.
    default ObjectNode described() {
        var described = JsonNodeFactory.instance
                .objectNode()
                .put("name", name())
                .put("datatype", datatype().name());
        Arrays.stream(shape()).forEach(described.putArray("shape")::add);
        return described;
    }

    /// Bytes that are no text go in base64, as hooks take pictures.
    static Tensor texts(List<ByteString> elements, int[] shape) {
        RequestMemory.charge(8 * elements.stream().mapToLong(ByteString::size).sum());
        var texts = elements.stream()
                .map(element -> element.isValidUtf8()
                        ? element.toStringUtf8()
                        : Base64.getEncoder().encodeToString(element.toByteArray()))
                .toArray(String[]::new);
        return Tensor.of(texts, shape);
    }

    /// Numbers or texts.
    record Elements(String name, Tensor tensor, Optional<String> contentType) implements InferTensor {

        @Override
        public Datatype datatype() {
            return Datatype.of(Optional.of(tensor.type()));
        }

        @Override
        public int[] shape() {
            return tensor.shape();
        }

        @Override
        public ByteBuffer raw() {
            return tensor.type() == ElementType.STRING
                    ? behindLengths(tensor.texts().stream()
                            .map(ByteString::copyFromUtf8)
                            .toList())
                    : tensor.data();
        }
    }

    /// The only element of a tensor of BYTES, which may be a body of any type.
    record Body(String name, int[] shape, ByteString bytes, Optional<String> contentType) implements InferTensor {

        @Override
        public Datatype datatype() {
            return Datatype.BYTES;
        }

        @Override
        public Tensor tensor() {
            return texts(List.of(bytes), shape);
        }

        @Override
        public ByteBuffer raw() {
            return behindLengths(List.of(bytes));
        }
    }

    private static ByteBuffer behindLengths(List<ByteString> elements) {
        int length = Math.toIntExact(elements.stream()
                .mapToLong(element -> Integer.BYTES + element.size())
                .sum());
        RequestMemory.charge(2L * length);
        var raw = ByteBuffer.allocate(length).order(ByteOrder.LITTLE_ENDIAN);
        elements.forEach(element -> element.copyTo(raw.putInt(element.size())));
        return raw.flip();
    }
}
