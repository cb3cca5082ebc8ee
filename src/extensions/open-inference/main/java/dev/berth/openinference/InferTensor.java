package dev.berth.openinference;

import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import com.google.protobuf.ByteString;
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

    static String base64(ByteString element) {
        return Base64.getEncoder().encodeToString(element.toByteArray());
    }

    /// Numbers.
    record Numbers(String name, Tensor tensor) implements InferTensor {

        @Override
        public Datatype datatype() {
            return Datatype.of(Optional.of(tensor.type()));
        }

        @Override
        public int[] shape() {
            return tensor.shape();
        }

        @Override
        public Optional<String> contentType() {
            return Optional.empty();
        }

        @Override
        public ByteBuffer raw() {
            return tensor.data();
        }
    }

    /// Texts or bytes.
    record Bytes(String name, int[] shape, List<ByteString> elements, Optional<String> contentType)
            implements InferTensor {

        @Override
        public Datatype datatype() {
            return Datatype.BYTES;
        }

        /// All bytes of all elements.
        long length() {
            return elements.stream().mapToLong(ByteString::size).sum();
        }

        @Override
        public ByteBuffer raw() {
            int length = Math.toIntExact(length() + (long) Integer.BYTES * elements.size());
            RequestMemory.charge(length);
            var raw = ByteBuffer.allocate(length).order(ByteOrder.LITTLE_ENDIAN);
            elements.forEach(element -> element.copyTo(raw.putInt(element.size())));
            return raw.flip();
        }
    }
}
