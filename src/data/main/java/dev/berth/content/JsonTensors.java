package dev.berth.content;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import dev.berth.hooks.BadInputException;
import dev.berth.hooks.ElementType;
import dev.berth.hooks.Tensor;
import dev.berth.memory.RequestMemory;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.IntFunction;
import java.util.stream.Collectors;
import java.util.stream.DoubleStream;
import java.util.stream.IntStream;
import java.util.stream.LongStream;

/// Tensors as JSON: a number, a list of numbers, a list of lists, and so on.
public final class JsonTensors {

    /// The numbers that JSON has no form for.
    private static final Set<String> NO_JSON = Set.of("NaN", "Infinity", "-Infinity");

    private JsonTensors() {}

    /// Reads numbers into a tensor of the shape that their lists have. `{"b64": "…"}` is bytes: a
    /// `uint8` tensor of one dimension. true and false are 1 and 0, and null is NaN or an empty text.
    ///
    /// @param type what the elements become; a fraction is refused where that has none, and so is a
    ///   number out of range
    /// @param name what messages call the value
    /// @throws BadInputException naming the element that is no such number, or the list of another
    ///   length than the first
    public static Tensor read(JsonNode value, ElementType type, String name) {
        if (value.isObject()) {
            var bytes = Base64Bytes.read(value, name, "a number, a list of numbers, or ");
            return Tensor.ofUnsigned(bytes, bytes.length);
        }
        var elements = new Elements(type, shape(value), name);
        elements.add(value, 0);
        return elements.tensor();
    }

    /// A tensor as nested lists. A number that JSON does not have, NaN or an infinity, becomes null.
    public static JsonNode write(Tensor tensor) {
        return write(tensor, false);
    }

    /// The same for [#read], which knows a number that JSON does not have by its name as a text.
    public static JsonNode writeToRead(Tensor tensor) {
        return write(tensor, true);
    }

    private static JsonNode write(Tensor tensor, boolean toRead) {
        if (tensor.rank() == 0) {
            return numbers(tensor, toRead).path(0);
        }
        if (tensor.rank() == 1) {
            return numbers(tensor, toRead);
        }
        var list = new ArrayNode(JsonNodeFactory.instance, tensor.shape()[0]);
        tensor.unstack().forEach(part -> list.add(write(part, toRead)));
        return list;
    }

    /// A record: a tensor for each input. Where the columns of a table are known, it may be a row: a
    /// list of the values of several inputs, or an object with the names of the columns.
    static List<Tensor> record(JsonNode value, TensorInputs inputs, String name) {
        var names = inputs.names();
        var table = inputs.table();
        if (value.isArray() && names.size() > 1 && table.isKnown()) {
            if (value.size() != table.count()) {
                throw new BadInputException("%s: found a list of %d, expected one of %d, or an object with %s"
                        .formatted(name, value.size(), table.count(), Excerpt.list(names)));
            }
            return row(value::path, inputs, column -> "%s[%d]".formatted(name, column));
        }
        var columns = table.names();
        if (table.count() > 1 && isRow(value) && (columns.isEmpty() || !columns.equals(names))) {
            if (columns.isEmpty()) {
                throw new BadInputException(
                        "%s: found an object, expected a list of %d, or columns in model.json with the names of them all"
                                .formatted(name, table.count()));
            }
            TableColumns.checkNames(
                    value.propertyStream().map(Map.Entry::getKey).toList(), columns, name);
            return row(
                    column -> value.path(columns.get(column)),
                    inputs,
                    column -> "%s.%s".formatted(name, columns.get(column)));
        }
        return names.size() > 1 || (value.isObject() && names.size() == 1 && value.has(names.getFirst()))
                ? fields(value, inputs, name)
                : List.of(only(value, inputs, name));
    }

    /// Whether an object has values by the names of columns, and no lists by the names of inputs.
    private static boolean isRow(JsonNode value) {
        return value.isObject() && !value.has("b64") && value.valueStream().noneMatch(JsonNode::isContainerNode);
    }

    private static List<Tensor> row(IntFunction<JsonNode> values, TensorInputs inputs, IntFunction<String> names) {
        return inputs.table()
                .record((input, from, to) -> Tensor.stack(IntStream.range(from, to)
                        .mapToObj(i -> cell(values.apply(i), inputs.type(input), names.apply(i)))
                        .toList()));
    }

    private static Tensor cell(JsonNode value, ElementType type, String name) {
        if (value.isContainerNode()) {
            throw Excerpt.bad(name, value, "a value");
        }
        return read(value, type, name);
    }

    /// The batches of several records: a tensor for each input.
    static List<Tensor> columns(JsonNode value, TensorInputs inputs, String name) {
        return inputs.isAny() || (inputs.names().size() == 1 && !value.isObject())
                ? List.of(only(value, inputs, name))
                : fields(value, inputs, name);
    }

    /// The tensor of the only input, which may stand under any name where it has none of its own.
    private static Tensor only(JsonNode value, TensorInputs inputs, String name) {
        if (value.isObject() && inputs.isAny() && value.size() == 1 && !value.has("b64")) {
            var field = value.properties().iterator().next();
            return read(field.getValue(), inputs.type(0), "%s.%s".formatted(name, field.getKey()));
        }
        return read(value, inputs.type(0), name);
    }

    /// A tensor for each input from an object that has them by name.
    private static List<Tensor> fields(JsonNode object, TensorInputs inputs, String name) {
        var names = inputs.names();
        if (!object.isObject()) {
            throw Excerpt.bad(name, object, "an object with " + names);
        }
        inputs.checkNames(object.propertyStream().map(Map.Entry::getKey).toList(), name);
        return IntStream.range(0, names.size())
                .mapToObj(i -> read(object.path(names.get(i)), inputs.type(i), "%s.%s".formatted(name, names.get(i))))
                .toList();
    }

    /// A value for each record: its outputs, or an error in its place.
    static List<Object> answers(TensorPredictions predictions) {
        return predictions.inPlace(outputs -> outputs(outputs, predictions), RecordError::new);
    }

    /// One output alone, several by their names.
    static JsonNode outputs(List<Tensor> outputs, TensorPredictions predictions) {
        if (outputs.size() == 1) {
            return write(outputs.getFirst());
        }
        var object = JsonNodeFactory.instance.objectNode();
        predictions.named(outputs).forEach((name, output) -> object.set(name, write(output)));
        return object;
    }

    /// @param toRead whether a number that JSON does not have stays one, which is written as a text
    private static ArrayNode numbers(Tensor tensor, boolean toRead) {
        var list = new ArrayNode(JsonNodeFactory.instance, tensor.size());
        switch (tensor.type()) {
            case BOOL -> Arrays.stream(tensor.longs()).forEach(value -> list.add(value != 0));
            case UINT8, INT8, INT16, INT32, INT64 ->
                Arrays.stream(tensor.longs()).forEach(list::add);
            case FLOAT64 ->
                Arrays.stream(tensor.doubles())
                        .forEach(value -> list.add(toRead || Double.isFinite(value) ? (Double) value : null));
            case FLOAT16, FLOAT32 -> {
                for (float value : tensor.floats()) {
                    list.add(toRead || Float.isFinite(value) ? (Float) value : null);
                }
            }
            case STRING -> tensor.texts().forEach(list::add);
        }
        return list;
    }

    /// The lengths that the first list on each level has.
    private static int[] shape(JsonNode value) {
        var lengths = new ArrayList<Integer>();
        for (var part = value; part.isArray(); part = part.path(0)) {
            lengths.add(part.size());
        }
        return lengths.stream().mapToInt(Integer::intValue).toArray();
    }

    /// The elements that have been read so far. Room is made for those that are there, not for those
    /// that a shape promises.
    private static final class Elements {

        /// Twice where they are collected, the tensor's own, and a copy of it.
        private static final long ELEMENT = 4 * Long.BYTES;

        private final ElementType type;
        private final int[] shape;
        private final String name;

        /// The index on each level of the value that is looked at: its name, put into words only where
        /// it is wrong.
        private final int[] place;

        /// One of these has them.
        private final List<String> texts = new ArrayList<>();

        private final DoubleStream.Builder fractions = DoubleStream.builder();
        private final LongStream.Builder wholes = LongStream.builder();

        Elements(ElementType type, int[] shape, String name) {
            this.type = type;
            this.shape = shape;
            this.name = name;
            this.place = new int[shape.length];
        }

        void add(JsonNode value, int depth) {
            if (depth < shape.length) {
                if (!value.isArray() || value.size() != shape[depth]) {
                    throw bad(
                            depth,
                            value.isArray() ? "a list of " + value.size() : Excerpt.of(value),
                            "a list of %d as before it".formatted(shape[depth]));
                }
                for (int i = 0; i < value.size(); i++) {
                    place[depth] = i;
                    add(value.path(i), depth + 1);
                }
                return;
            }
            RequestMemory.charge(ELEMENT);
            if (type == ElementType.STRING) {
                texts.add(text(value));
            } else if (type.isFloating()) {
                fractions.add(fraction(value));
            } else {
                wholes.add(whole(value));
            }
        }

        Tensor tensor() {
            if (type == ElementType.STRING) {
                return Tensor.of(texts.toArray(String[]::new), shape);
            }
            return type.isFloating()
                    ? Tensor.of(fractions.build().toArray(), shape).as(type)
                    : Tensor.of(wholes.build().toArray(), shape).as(type);
        }

        /// A value that is missing has no characters.
        private String text(JsonNode value) {
            boolean isMissing = value.isNull() || Double.isNaN(value.doubleValue());
            if (!value.isTextual() && !isMissing) {
                throw bad(shape.length, Excerpt.of(value), "a text");
            }
            return isMissing ? "" : value.textValue();
        }

        /// A value that is missing is NaN. Jobs over tables write NaN and infinities as texts.
        private double fraction(JsonNode value) {
            if (value.isBoolean()) {
                return value.booleanValue() ? 1 : 0;
            }
            if (value.isNull()) {
                return Double.NaN;
            }
            if (value.isTextual() && NO_JSON.contains(value.textValue())) {
                return NumberText.read(value.textValue());
            }
            if (!value.isNumber()) {
                throw bad(shape.length, Excerpt.of(value), "a number");
            }
            return value.doubleValue();
        }

        private long whole(JsonNode value) {
            if (value.isBoolean()) {
                return value.booleanValue() ? 1 : 0;
            }
            if (!value.isNumber()
                    || !value.canConvertToExactIntegral()
                    || !value.canConvertToLong()
                    || !type.holds(value.longValue())) {
                throw bad(shape.length, Excerpt.of(value), "a whole number that is " + type);
            }
            return value.longValue();
        }

        private BadInputException bad(int depth, String found, String expected) {
            var indexes =
                    Arrays.stream(place, 0, depth).mapToObj("[%d]"::formatted).collect(Collectors.joining());
            return new BadInputException("%s%s: found %s, expected %s".formatted(name, indexes, found, expected));
        }
    }
}
