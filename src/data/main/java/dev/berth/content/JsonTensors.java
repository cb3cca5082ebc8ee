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
import java.util.function.IntFunction;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/// Tensors as JSON: a number, a list of numbers, a list of lists, and so on.
public final class JsonTensors {

    /// What an element takes: twice where they are collected, the tensor's own, and a copy of it.
    private static final long ELEMENT = 4 * Long.BYTES;

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
        var list = new Nested(new Elements(type), shape(value), name);
        list.add(value, 0);
        return list.elements.tensor(list.shape);
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
        return inputs.table().record(inputs::type, (elements, column) -> {
            var value = values.apply(column);
            if (value.isContainerNode()) {
                throw Excerpt.bad(names.apply(column), value, "a value");
            }
            elements.add(value, expected -> Excerpt.bad(names.apply(column), value, expected));
        });
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
    static Object outputs(List<Tensor> outputs, TensorPredictions predictions) {
        return outputs.size() == 1 ? outputs.getFirst() : predictions.named(outputs);
    }

    /// @param toRead whether a number that JSON does not have stays one, which is written as a text
    static ArrayNode numbers(Tensor tensor, boolean toRead) {
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

    /// Goes through lists in lists.
    ///
    /// @param place the index on each level of the value that is looked at: its name, put into words only
    ///   where it is wrong
    private record Nested(Elements elements, int[] shape, String name, int[] place) {

        Nested(Elements elements, int[] shape, String name) {
            this(elements, shape, name, new int[shape.length]);
        }

        void add(JsonNode value, int depth) {
            if (depth == shape.length) {
                RequestMemory.charge(ELEMENT);
                elements.add(value, expected -> bad(depth, Excerpt.of(value), expected));
                return;
            }
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
        }

        private BadInputException bad(int depth, String found, String expected) {
            var indexes =
                    Arrays.stream(place, 0, depth).mapToObj("[%d]"::formatted).collect(Collectors.joining());
            return new BadInputException("%s%s: found %s, expected %s".formatted(name, indexes, found, expected));
        }
    }
}
