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
///
/// @param elements numbers or texts, where there is no `body`
/// @param body the only element of a tensor of BYTES, which may be a body of any type
/// @param contentType what the elements are, such as `image/png`: the parameter `content_type`
record InferTensor(
        String name, int[] shape, Optional<Tensor> elements, Optional<ByteString> body, Optional<String> contentType) {

    /// What an element of BYTES costs beside its bytes.
    static final int ELEMENT = 40;

    static InferTensor of(String name, Tensor elements, Optional<String> contentType) {
        return new InferTensor(name, elements.shape(), Optional.of(elements), Optional.empty(), contentType);
    }

    static InferTensor ofBody(String name, int[] shape, ByteString body, Optional<String> contentType) {
        return new InferTensor(name, shape, Optional.empty(), Optional.of(body), contentType);
    }

    Datatype datatype() {
        return Datatype.of(elements.map(Tensor::type));
    }

    /// The elements, as hooks and JSON have them.
    Tensor tensor() {
        return elements.orElseGet(() -> texts(body.stream().toList(), shape));
    }

    /// The elements as the protocol has them outside of JSON and of typed contents: little-endian,
    /// and each of BYTES behind its length in 4 bytes.
    ByteBuffer raw() {
        return elements.map(tensor -> tensor.type() == ElementType.STRING
                        ? behindLengths(tensor.texts().stream()
                                .map(ByteString::copyFromUtf8)
                                .toList())
                        : tensor.data())
                .orElseGet(() -> behindLengths(body.stream().toList()));
    }

    /// All but the parameters and the elements, as JSON and protobuf have it.
    ObjectNode described() {
        var described = JsonNodeFactory.instance
                .objectNode()
                .put("name", name)
                .put("datatype", datatype().name());
        Arrays.stream(shape).forEach(described.putArray("shape")::add);
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
