package dev.berth.engine.onnx;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;

/// An input or an output of an ONNX file: the message `ValueInfoProto` of `onnx.proto`.
final class OnnxValueProto {

    private final ProtobufReader in;
    private final List<Integer> shape = new ArrayList<>();
    private final List<String> symbols = new ArrayList<>();
    private String name = "";
    private OnnxType type = OnnxType.OTHER;
    private boolean isOptional;
    private boolean hasShape;

    /// Reads it, which comes next.
    OnnxValueProto(ProtobufReader in) throws IOException {
        this.in = in;
        in.message(this::field);
    }

    private void field(int field) throws IOException {
        switch (field) {
            case 1 -> name = in.keep(in.text());
            case 2 -> in.message(this::valueType);
            default -> {}
        }
    }

    private void valueType(int kind) throws IOException {
        isOptional |= kind == 9;
        if (kind == 1) {
            in.message(this::tensorType);
        }
    }

    private void tensorType(int field) throws IOException {
        switch (field) {
            case -1 -> type = OnnxType.of((int) in.number());
            case 2 -> {
                hasShape = true;
                in.message(this::shapeOf);
            }
            default -> {}
        }
    }

    private void shapeOf(int field) throws IOException {
        if (field == 1) {
            in.keep(0);
            shape.add(-1);
            symbols.add("");
            in.message(this::dimension);
        }
    }

    private void dimension(int field) throws IOException {
        switch (field) {
            case -1 -> shape.set(shape.size() - 1, (int) in.number());
            case 2 -> symbols.set(symbols.size() - 1, in.keep(in.text()));
            default -> {}
        }
    }

    String name() {
        return name;
    }

    OnnxType type() {
        return type;
    }

    /// Whether it may have no value, which ONNX Runtime's Java knows no type for.
    boolean isOptional() {
        return isOptional;
    }

    /// Whether the file tells its shape. That of a number alone is empty.
    boolean hasShape() {
        return hasShape;
    }

    /// -1 for any length.
    List<Integer> shape() {
        return shape;
    }

    /// What its dimensions are called; empty for one that has no name.
    List<String> symbols() {
        return symbols;
    }
}
