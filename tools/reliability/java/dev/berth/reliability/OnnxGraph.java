package dev.berth.reliability;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.List;

/// A graph of ONNX, written field by field. The numbers are those of `onnx.proto`.
final class OnnxGraph {

    static final int FLOAT = 1;
    static final int INT64 = 7;
    static final int BOOL = 9;

    /// The domain of the functions that a file brings with it.
    private static final String OWN = "own";

    private static final int IR_VERSION = 8;

    private final Protobuf graph = new Protobuf().text(2, "graph");

    /// @param shape numbers, and names for what may have any length
    OnnxGraph input(String name, int type, Object... shape) {
        graph.message(11, value(name, type, shape));
        return this;
    }

    OnnxGraph output(String name, int type, Object... shape) {
        graph.message(12, value(name, type, shape));
        return this;
    }

    OnnxGraph constant(String name, float value) {
        return initializer(
                tensor(name, FLOAT).bytes(9, little(4).putFloat(value).array()));
    }

    /// One element of integers or of truth values.
    ///
    /// @param shape none, or 1
    OnnxGraph constant(String name, int type, long value, long... shape) {
        var bytes = type == BOOL
                ? new byte[] {(byte) value}
                : little(8).putLong(value).array();
        return initializer(tensor(name, type, shape).bytes(9, bytes));
    }

    OnnxGraph weights(String name, float... values) {
        var bytes = ByteBuffer.allocate(4 * values.length).order(ByteOrder.LITTLE_ENDIAN);
        bytes.asFloatBuffer().put(values);
        return initializer(tensor(name, FLOAT, 1, 1, values.length).bytes(9, bytes.array()));
    }

    /// A row of numbers in a file beside the model.
    OnnxGraph weightsIn(String location, String name, long length) {
        return initializer(tensor(name, FLOAT, 1, length)
                .message(13, new Protobuf().text(1, "location").text(2, location))
                .number(14, 1));
    }

    OnnxGraph node(String operator, List<String> inputs, String output, Protobuf... attributes) {
        graph.message(1, node("", operator, inputs, output, attributes));
        return this;
    }

    /// A call of a function that the file brings with it.
    OnnxGraph call(String function, String input, String output) {
        graph.message(1, node(OWN, function, List.of(input), output));
        return this;
    }

    static Protobuf attribute(String name, long value) {
        return new Protobuf().text(1, name).number(3, value).number(20, 2);
    }

    static Protobuf attribute(String name, long[] values) {
        var attribute = new Protobuf().text(1, name);
        for (long value : values) {
            attribute.number(8, value);
        }
        return attribute.number(20, 7);
    }

    static Protobuf attribute(String name, OnnxGraph graph) {
        return new Protobuf().text(1, name).message(6, graph.graph).number(20, 5);
    }

    /// A function from `a` to `b` that calls others one after another.
    static Protobuf function(String name, String... called) {
        var function = new Protobuf().text(1, name).text(4, "a").text(5, "b");
        for (int i = 0; i < called.length; i++) {
            var from = i == 0 ? "a" : "t" + i;
            var to = i == called.length - 1 ? "b" : "t" + (i + 1);
            function.message(7, node(OWN, called[i], List.of(from), to));
        }
        return imports(function, 9).text(10, OWN);
    }

    /// The file.
    byte[] model(List<Protobuf> functions) {
        var model = new Protobuf().number(1, IR_VERSION).message(7, graph);
        functions.forEach(function -> model.message(25, function));
        return imports(model, 8).toBytes();
    }

    byte[] model() {
        return model(List.of());
    }

    private static Protobuf imports(Protobuf into, int field) {
        return into.message(field, new Protobuf().text(1, "").number(2, 17))
                .message(field, new Protobuf().text(1, OWN).number(2, 1));
    }

    private static Protobuf node(
            String domain, String operator, List<String> inputs, String output, Protobuf... attributes) {
        var node = new Protobuf();
        inputs.forEach(input -> node.text(1, input));
        node.text(2, output).text(3, output + "-node").text(4, operator).text(7, domain);
        for (var attribute : attributes) {
            node.message(5, attribute);
        }
        return node;
    }

    private OnnxGraph initializer(Protobuf tensor) {
        graph.message(5, tensor);
        return this;
    }

    private static Protobuf tensor(String name, int type, long... shape) {
        var tensor = new Protobuf();
        for (long length : shape) {
            tensor.number(1, length);
        }
        return tensor.number(2, type).text(8, name);
    }

    private static Protobuf value(String name, int type, Object... shape) {
        var dimensions = new Protobuf();
        for (var length : shape) {
            dimensions.message(
                    1,
                    length instanceof String any
                            ? new Protobuf().text(2, any)
                            : new Protobuf().number(1, ((Number) length).longValue()));
        }
        var elements = new Protobuf().number(1, type).message(2, dimensions);
        return new Protobuf().text(1, name).message(2, new Protobuf().message(1, elements));
    }

    private static ByteBuffer little(int length) {
        return ByteBuffer.allocate(length).order(ByteOrder.LITTLE_ENDIAN);
    }
}
