package dev.berth.openinference;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.MissingNode;
import dev.berth.content.Json;
import dev.berth.content.JsonTensors;
import dev.berth.hooks.ElementType;
import dev.berth.hooks.Signature;
import dev.berth.hooks.Tensor;
import dev.berth.memory.RequestMemory;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.stream.IntStream;

/// Makes named tensors of a model's JSON.
///
/// Lists of like lengths are dimensions. Objects of like fields are a tensor for each field. What
/// is neither, such as lists of different lengths, becomes BYTES: each element is a text of JSON.
/// So does each record's answer where the hooks say that it is one text.
final class JsonColumns {

    private static final Optional<String> JSON = Optional.of("application/json");

    /// What a value costs on its way to a tensor.
    private static final int VALUE = 48;

    private record Level(int[] shape, List<JsonNode> values) {

        Level of(String field) {
            return new Level(
                    shape, values.stream().map(value -> value.path(field)).toList());
        }
    }

    private JsonColumns() {}

    /// @param name of the tensor where there is one alone
    /// @param columns that the hooks have said; empty: any
    /// @param records that were asked; 0: any number
    static List<InferTensor> of(JsonNode answer, String name, List<Signature.Column> columns, int records) {
        var value = unwrapped(answer);
        if (columns.size() == 1
                && columns.getFirst().equals(Signature.Column.ofTexts(name))
                && value.path(0).isContainerNode()
                && !value.path(0).has(name)) {
            return List.of(texts(
                    name,
                    new Level(new int[] {value.size()}, value.valueStream().toList())));
        }
        // Where an answer is a list, one alone may be it, unless it stands in a list of them.
        boolean areLists = value.equals(answer)
                && !columns.isEmpty()
                && !columns.getFirst().shape().isEmpty();
        boolean isAlone = !value.isArray()
                || (areLists && !value.isEmpty() && (!value.path(0).isArray() || (records == 1 && value.size() != 1)));
        var rows = deepened(new Level(isAlone ? new int[] {1} : new int[0], List.of(value)));
        var first = rows.values.isEmpty() ? MissingNode.getInstance() : rows.values.getFirst();
        return first.isEmpty() || !rows.values.stream().allMatch(each -> isLike(each, first))
                ? List.of(column(name, rows))
                : first.propertyStream()
                        .map(field -> column(field.getKey(), rows.of(field.getKey())))
                        .toList();
    }

    /// What TensorFlow Serving's forms have around the answer.
    private static JsonNode unwrapped(JsonNode answer) {
        return answer.size() == 1
                ? answer.path("predictions")
                        .asOptional()
                        .or(() -> answer.path("outputs").asOptional())
                        .orElse(answer)
                : answer;
    }

    private static boolean isLike(JsonNode value, JsonNode first) {
        return value.isObject()
                && first.isObject()
                && value.size() == first.size()
                && first.propertyStream().allMatch(field -> value.has(field.getKey()));
    }

    /// Goes as deep as all lists have one length.
    private static Level deepened(Level level) {
        var shape = IntStream.builder();
        Arrays.stream(level.shape).forEach(shape);
        var values = level.values;
        while (!values.isEmpty() && areLikeLists(values)) {
            int length = values.getFirst().size();
            shape.add(length);
            RequestMemory.charge(VALUE * (long) values.size() * length);
            values = values.stream().flatMap(JsonNode::valueStream).toList();
        }
        return new Level(shape.build().toArray(), values);
    }

    private static boolean areLikeLists(List<JsonNode> values) {
        return values.stream()
                .allMatch(value ->
                        value.isArray() && value.size() == values.getFirst().size());
    }

    private static InferTensor column(String name, Level level) {
        var deepest = deepened(level);
        return type(deepest.values)
                .map(type -> {
                    var list = JsonNodeFactory.instance.arrayNode().addAll(deepest.values);
                    var elements = JsonTensors.read(list, type, name).reshape(deepest.shape);
                    return InferTensor.of(name, elements, Optional.empty());
                })
                .orElseGet(() -> texts(name, level));
    }

    /// Nothing where the values are of several types.
    private static Optional<ElementType> type(List<JsonNode> values) {
        if (values.stream().allMatch(JsonNode::isTextual)) {
            return Optional.of(ElementType.STRING);
        }
        if (values.stream().allMatch(JsonNode::isBoolean)) {
            return Optional.of(ElementType.BOOL);
        }
        if (values.stream().allMatch(value -> value.isIntegralNumber() && value.canConvertToLong())) {
            return Optional.of(ElementType.INT64);
        }
        // JSON has no NaN and no infinity; Berth writes null for them.
        boolean areNumbers = values.stream().allMatch(value -> value.isNumber() || value.isNull())
                && values.stream().anyMatch(JsonNode::isNumber);
        return areNumbers ? Optional.of(ElementType.FLOAT64) : Optional.empty();
    }

    private static InferTensor texts(String name, Level level) {
        var texts = level.values.stream()
                .map(Json::write)
                .peek(text -> RequestMemory.charge(InferTensor.ELEMENT + 3L * text.length()))
                .toArray(String[]::new);
        return InferTensor.of(name, Tensor.of(texts, level.shape), JSON);
    }
}
