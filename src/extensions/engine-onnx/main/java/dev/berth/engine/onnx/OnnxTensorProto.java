package dev.berth.engine.onnx;

import java.util.List;
import java.util.Optional;
import java.util.stream.Collectors;

/// A tensor of an ONNX file without its elements.
///
/// @param location the file that has its elements, relative to the model; empty: they are in the model
/// @param offset where they begin in that file; -1 where that is no number
record OnnxTensorProto(String name, OnnxType type, List<Long> shape, Optional<String> location, long offset) {

    static OnnxTensorProto of(OnnxMessage tensor) {
        var external = tensor.messages(13)
                .collect(Collectors.toMap(entry -> entry.text(1), entry -> entry.text(2), (_, last) -> last));
        return new OnnxTensorProto(
                tensor.text(8),
                OnnxType.of(tensor.number(2)),
                tensor.numbers(1).toList(),
                Optional.ofNullable(external.get("location")),
                offset(external.getOrDefault("offset", "0")));
    }

    private static long offset(String offset) {
        try {
            return Long.parseLong(offset);
        } catch (NumberFormatException _) {
            return -1;
        }
    }

    /// How many bytes the elements are; -1 where that is no number of whole ones, or none that Java knows.
    long bytes() {
        if (type.made() == null || shape.stream().anyMatch(length -> length < 0)) {
            return -1;
        }
        try {
            return shape.stream().reduce((long) type.made().size, Math::multiplyExact);
        } catch (ArithmeticException _) {
            return -1;
        }
    }
}
