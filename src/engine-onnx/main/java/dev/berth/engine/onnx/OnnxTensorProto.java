package dev.berth.engine.onnx;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/// A tensor of an ONNX file without its elements: the message `TensorProto` of `onnx.proto`.
final class OnnxTensorProto {

    private final ProtobufReader in;
    private final List<Long> shape = new ArrayList<>();
    private String name = "";
    private OnnxType type = OnnxType.OTHER;
    private String location;
    private String offset = "0";

    /// Reads it, which comes next.
    OnnxTensorProto(ProtobufReader in) throws IOException {
        this.in = in;
        in.message(this::field);
    }

    private void field(int field) throws IOException {
        switch (field) {
            case -1 -> {
                in.keep(0);
                shape.add(in.number());
            }
            case 1 -> in.numbers(shape);
            case -2 -> type = OnnxType.of((int) in.number());
            case 8 -> name = in.text();
            case 13 -> entry();
            default -> {}
        }
    }

    /// Of `external_data`: a key and its value.
    private void entry() throws IOException {
        var entry = new String[] {"", ""};
        in.message(part -> {
            if (part == 1 || part == 2) {
                entry[part - 1] = in.text();
            }
        });
        switch (entry[0]) {
            case "location" -> location = entry[1];
            case "offset" -> offset = entry[1];
            default -> {}
        }
    }

    String name() {
        return name;
    }

    OnnxType type() {
        return type;
    }

    List<Long> shape() {
        return shape;
    }

    /// The file that has its elements, relative to the model; nothing: they are in the model.
    Optional<String> location() {
        return Optional.ofNullable(location);
    }

    /// Where they begin in that file, as it is written; -1 where that is no number.
    long offset() {
        try {
            return Long.parseLong(offset);
        } catch (NumberFormatException _) {
            return -1;
        }
    }

    /// How many bytes they are; -1 where that is no number of whole ones, or none that Java knows.
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
