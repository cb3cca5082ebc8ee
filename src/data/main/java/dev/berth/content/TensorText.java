package dev.berth.content;

import com.fasterxml.jackson.core.JsonGenerator;
import com.fasterxml.jackson.databind.JsonSerializable;
import com.fasterxml.jackson.databind.SerializerProvider;
import com.fasterxml.jackson.databind.jsontype.TypeSerializer;
import dev.berth.hooks.Tensor;
import dev.berth.memory.HeapSize;
import dev.berth.memory.RequestMemory;
import java.io.IOException;
import java.util.Arrays;
import java.util.List;
import java.util.function.IntFunction;
import java.util.stream.IntStream;

/// A tensor, or a row of one, that is written element by element: as nested lists of JSON, or as the
/// cells of a row of CSV.
final class TensorText implements JsonSerializable {

    private final IntFunction<Object> elements;
    private final int[] shape;
    private final int first;
    private final boolean toRead;

    private TensorText(IntFunction<Object> elements, int[] shape, int first, boolean toRead) {
        this.elements = elements;
        this.shape = shape;
        this.first = first;
        this.toRead = toRead;
    }

    /// @param toRead whether a number that JSON does not have, NaN or an infinity, is written by its name
    ///   as a text, and not as null
    static TensorText of(Tensor tensor, boolean toRead) {
        return new TensorText(elements(tensor), tensor.shape(), 0, toRead);
    }

    /// The outputs of a model.
    static List<TensorText> all(List<Tensor> tensors) {
        return tensors.stream().map(tensor -> of(tensor, false)).toList();
    }

    /// The element at an index.
    private static IntFunction<Object> elements(Tensor tensor) {
        return switch (tensor.type()) {
            case BOOL -> {
                var values = tensor.longs();
                yield i -> values[i] != 0;
            }
            case UINT8, INT8, INT16, INT32, INT64 -> {
                var values = tensor.longs();
                yield i -> values[i];
            }
            case FLOAT64 -> {
                var values = tensor.doubles();
                yield i -> values[i];
            }
            case FLOAT16, FLOAT32 -> {
                var values = tensor.floats();
                yield i -> values[i];
            }
            case STRING -> tensor.texts()::get;
        };
    }

    /// The parts along the first dimension, of which there is one.
    List<TensorText> rows() {
        var rest = Arrays.copyOfRange(shape, 1, shape.length);
        int size = size(rest);
        RequestMemory.charge(HeapSize.TENSOR * shape[0]);
        return IntStream.range(0, shape[0])
                .mapToObj(i -> new TensorText(elements, rest, first + i * size, toRead))
                .toList();
    }

    /// Adds the elements as cells, true and false as 1 and 0.
    void addCells(List<Object> row) {
        int end = first + size(shape);
        for (int i = first; i < end; i++) {
            var element = elements.apply(i);
            row.add(element instanceof Boolean isTrue ? (Object) (isTrue ? 1 : 0) : element);
        }
    }

    private static int size(int[] shape) {
        return Arrays.stream(shape).reduce(1, (size, length) -> size * length);
    }

    @Override
    public void serialize(JsonGenerator json, SerializerProvider serializers) throws IOException {
        write(0, first, json);
    }

    @Override
    public void serializeWithType(JsonGenerator json, SerializerProvider serializers, TypeSerializer type)
            throws IOException {
        serialize(json, serializers);
    }

    /// @param index of the first element
    /// @return that of the first one behind it
    private int write(int depth, int index, JsonGenerator json) throws IOException {
        if (depth == shape.length) {
            write(elements.apply(index), json);
            return index + 1;
        }
        json.writeStartArray();
        int end = index;
        for (int i = 0; i < shape[depth]; i++) {
            end = write(depth + 1, end, json);
        }
        json.writeEndArray();
        return end;
    }

    private void write(Object element, JsonGenerator json) throws IOException {
        if (element instanceof Float value && (toRead || Float.isFinite(value))) {
            json.writeNumber(value);
        } else if (element instanceof Double value && (toRead || Double.isFinite(value))) {
            json.writeNumber(value);
        } else if (element instanceof Long value) {
            json.writeNumber(value);
        } else if (element instanceof Boolean value) {
            json.writeBoolean(value);
        } else if (element instanceof String value) {
            json.writeString(value);
        } else {
            json.writeNull();
        }
    }
}
