package dev.berth.testing;

import com.google.protobuf.ByteString;
import com.google.protobuf.CodedOutputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

/// A small ONNX file, written field by field: the numbers are those of `onnx.proto`.
public final class OnnxModel {

    public static final int FLOAT = 1;
    public static final int UINT8 = 2;
    public static final int INT8 = 3;
    public static final int UINT16 = 4;
    public static final int INT16 = 5;
    public static final int INT32 = 6;
    public static final int INT64 = 7;
    public static final int STRING = 8;
    public static final int BOOL = 9;
    public static final int FLOAT16 = 10;
    public static final int DOUBLE = 11;
    public static final int UINT32 = 12;
    public static final int UINT64 = 13;
    public static final int BFLOAT16 = 16;

    /// Their names, by their numbers.
    private static final List<String> TYPES =
            List.of("- FLOAT UINT8 INT8 UINT16 INT16 INT32 INT64 STRING BOOL FLOAT16 DOUBLE UINT32 UINT64 - - BFLOAT16"
                    .split(" "));

    /// What the newest operators of the tests need.
    private static final int OPSET = 17;

    private static final int IR_VERSION = 8;

    /// One message.
    public static final class Message {

        private final ByteArrayOutputStream bytes = new ByteArrayOutputStream();

        public Message number(int field, long value) {
            return write(out -> out.writeInt64(field, value));
        }

        public Message text(int field, String value) {
            return write(out -> out.writeString(field, value));
        }

        public Message bytes(int field, byte[] value) {
            return write(out -> out.writeBytes(field, ByteString.copyFrom(value)));
        }

        public Message message(int field, Message value) {
            return bytes(field, value.toBytes());
        }

        public byte[] toBytes() {
            return bytes.toByteArray();
        }

        private interface Writing {
            void to(CodedOutputStream out) throws IOException;
        }

        private Message write(Writing writing) {
            try {
                var out = CodedOutputStream.newInstance(bytes);
                writing.to(out);
                out.flush();
                return this;
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }
    }

    private final Message graph = new Message().text(2, "test");
    private final Message imports = new Message();
    private final List<Message> nodes = new ArrayList<>();

    /// Those of a model without another domain than ONNX's own.
    public OnnxModel() {
        opset("", OPSET);
    }

    /// A model in words: `in x FLOAT n 2; ReduceMean x -> mean axes=[0]; Sub x mean -> y; out y FLOAT n 2`.
    /// The shape `?` is any. A domain stands in front of its operator, with a colon.
    public static OnnxModel of(String statements) {
        return new OnnxModel().with(statements);
    }

    /// Adds more of the same.
    public OnnxModel with(String statements) {
        for (var statement : statements.strip().split(";\\s*")) {
            var words = List.of(statement.split("\\s+"));
            var more = words.subList(Math.min(3, words.size()), words.size());
            if (words.getFirst().matches("in|out")) {
                int type = TYPES.indexOf(words.get(2));
                graph.message(
                        words.getFirst().equals("in") ? 11 : 12,
                        more.equals(List.of("?"))
                                ? ofAnyShape(words.get(1), type)
                                : value(
                                        words.get(1),
                                        type,
                                        more.stream().map(OnnxModel::length).toArray()));
            } else {
                node(words);
            }
        }
        return this;
    }

    private static Object length(String word) {
        return word.matches("\\d+") ? (Object) Long.valueOf(word) : word;
    }

    private void node(List<String> words) {
        int arrow = words.indexOf("->");
        var operator = words.getFirst();
        var more = words.subList(arrow + 1, words.size());
        node(
                operator.contains(":") ? operator.substring(0, operator.indexOf(':')) : "",
                operator.substring(operator.indexOf(':') + 1),
                words.subList(1, arrow),
                more.stream().filter(word -> !word.contains("=")).toList(),
                more.stream()
                        .filter(word -> word.contains("="))
                        .map(OnnxModel::attribute)
                        .toArray(Message[]::new));
    }

    /// Such as `axis=-1`, `axes=[0,1]`, `labels=[cat,dog]`, `locale=C` and `to=INT64`.
    private static Message attribute(String word) {
        var name = word.substring(0, word.indexOf('='));
        var value = word.substring(word.indexOf('=') + 1);
        if (value.startsWith("[")) {
            return attribute(
                    name,
                    Stream.of(value.substring(1, value.length() - 1).split(","))
                            .map(each -> each.matches("-?\\d+") ? (Object) Long.valueOf(each) : each)
                            .toList());
        }
        return TYPES.contains(value) || value.matches("-?\\d+")
                ? attribute(name, TYPES.contains(value) ? TYPES.indexOf(value) : Long.parseLong(value))
                : new Message().text(1, name).text(4, value).number(20, 3);
    }

    public OnnxModel opset(String domain, int version) {
        imports.message(8, new Message().text(1, domain).number(2, version));
        return this;
    }

    /// @param shape numbers, and names for what may have any length
    public OnnxModel input(String name, int type, Object... shape) {
        graph.message(11, value(name, type, shape));
        return this;
    }

    private static Message ofAnyShape(String name, int type) {
        return new Message().text(1, name).message(2, new Message().message(1, elements(type)));
    }

    public OnnxModel output(String name, int type, Object... shape) {
        graph.message(12, value(name, type, shape));
        return this;
    }

    public OnnxModel outputOfOptional(String name, int type) {
        var element = new Message().message(1, new Message().message(1, elements(type)));
        graph.message(12, new Message().text(1, name).message(2, new Message().message(9, element)));
        return this;
    }

    /// A function of one input and one output.
    ///
    /// @param body whose nodes are the function's
    public OnnxModel function(String domain, String name, String input, String output, OnnxModel body) {
        var function = new Message().text(1, name).text(4, input).text(5, output);
        body.nodes.forEach(node -> function.message(7, node));
        imports.message(
                25,
                function.message(9, new Message().text(1, "").number(2, OPSET))
                        .message(9, new Message().text(1, domain).number(2, 1))
                        .text(10, domain));
        return this;
    }

    /// A list of maps from `key` to float.
    public OnnxModel outputOfMaps(String name, int key) {
        var map = new Message()
                .message(5, new Message().number(1, key).message(2, new Message().message(1, elements(FLOAT))));
        graph.message(
                12, new Message().text(1, name).message(2, new Message().message(4, new Message().message(1, map))));
        return this;
    }

    public OnnxModel weights(String name, float[] values, long... shape) {
        var data = ByteBuffer.allocate(values.length * Float.BYTES).order(ByteOrder.LITTLE_ENDIAN);
        data.asFloatBuffer().put(values);
        return initializer(tensor(name, FLOAT, shape).bytes(9, data.array()));
    }

    /// In a file of their own.
    public OnnxModel weightsIn(String location, String name, long bytes, long... shape) {
        var tensor = tensor(name, FLOAT, shape).number(14, 1);
        Map.of("location", location, "offset", "0", "length", Long.toString(bytes))
                .forEach((key, value) ->
                        tensor.message(13, new Message().text(1, key).text(2, value)));
        return initializer(tensor);
    }

    public OnnxModel initializer(Message tensor) {
        graph.message(5, tensor);
        return this;
    }

    public OnnxModel sparse(Message tensor) {
        graph.message(15, tensor);
        return this;
    }

    public static Message tensor(String name, int type, long... shape) {
        var tensor = new Message();
        for (long length : shape) {
            tensor.number(1, length);
        }
        return tensor.number(2, type).text(8, name);
    }

    public OnnxModel node(String operator, List<String> inputs, List<String> outputs, Message... attributes) {
        return node("", operator, inputs, outputs, attributes);
    }

    public OnnxModel node(
            String domain, String operator, List<String> inputs, List<String> outputs, Message... attributes) {
        var node = new Message();
        inputs.forEach(input -> node.text(1, input));
        outputs.forEach(output -> node.text(2, output));
        node.text(3, String.join("-and-", outputs)).text(4, operator).text(7, domain);
        for (var attribute : attributes) {
            node.message(5, attribute);
        }
        nodes.add(node);
        graph.message(1, node);
        return this;
    }

    public static Message attribute(String name, long value) {
        return new Message().text(1, name).number(3, value).number(20, 2);
    }

    public static Message attribute(String name, List<?> values) {
        var attribute = new Message().text(1, name);
        for (var value : values) {
            if (value instanceof Long number) {
                attribute.number(8, number);
            } else {
                attribute.text(9, value.toString());
            }
        }
        return attribute.number(20, values.getFirst() instanceof Long ? 7 : 8);
    }

    public static Message attribute(String name, Message graph) {
        return new Message().text(1, name).message(6, graph).number(20, 5);
    }

    /// The graph as it is now, to be part of another one.
    public Message graph() {
        return graph;
    }

    public byte[] toBytes() {
        var model = new Message().number(1, IR_VERSION).message(7, graph).toBytes();
        var all = new ByteArrayOutputStream();
        all.writeBytes(model);
        all.writeBytes(imports.toBytes());
        return all.toByteArray();
    }

    public Path write(Path file) throws IOException {
        return Files.write(file, toBytes());
    }

    private static Message value(String name, int type, Object... shape) {
        var dimensions = new Message();
        for (var length : shape) {
            dimensions.message(
                    1,
                    length instanceof String any
                            ? new Message().text(2, any)
                            : new Message().number(1, ((Number) length).longValue()));
        }
        return new Message()
                .text(1, name)
                .message(2, new Message().message(1, elements(type).message(2, dimensions)));
    }

    private static Message elements(int type) {
        return new Message().number(1, type);
    }

    /// `y` is the sum of `x` up to each step, for a matrix of two columns.
    public static OnnxModel cumulative() {
        return OnnxModel.of("in x FLOAT steps 2; CumSum x axis -> y; out y FLOAT steps 2")
                .initializer(tensor("axis", INT64).bytes(9, new byte[8]));
    }

    /// `most` is the largest of `points` in each of two columns: one row for any number of them.
    public static OnnxModel mostOfAllRows() {
        return OnnxModel.of("""
                in points FLOAT points 2; ReduceMax points -> most axes=[0]; out most FLOAT 1 2""");
    }

    /// Rows of two numbers in, `x · (2, 3)` and `x + x` out.
    public static OnnxModel linear() {
        return OnnxModel.of("""
                in x FLOAT n 2; MatMul x w -> y; Add x x -> twice; out y FLOAT n 1;
                out twice FLOAT n 2""").weights("w", new float[] {2, 3}, 2, 1);
    }

    /// Rows in, the same rows out, after as many turns of a loop as the largest number says: a
    /// request says how long its forward takes.
    public static OnnxModel turning() {
        var turn = OnnxModel.of("""
                in turn INT64; in on BOOL; in before FLOAT ?; Identity on -> on_after;
                Identity before -> after; out on_after BOOL; out after FLOAT ?""");
        return OnnxModel.of("""
                in x FLOAT n 2; ReduceMax x -> largest keepdims=0; Cast largest -> turns to=INT64;
                out y FLOAT n 2""")
                .node(
                        "Loop",
                        List.of("turns", "", "x"),
                        List.of("y"),
                        attribute("body", turn.graph().text(2, "turn")));
    }
}
