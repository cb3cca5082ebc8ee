package dev.berth.json;

import com.fasterxml.jackson.core.JsonGenerator;
import com.fasterxml.jackson.databind.JsonSerializer;
import com.fasterxml.jackson.databind.SerializerProvider;
import dev.berth.hooks.Tensor;
import java.io.IOException;

/// Writes a tensor as nested lists, without a node for each element. A number that JSON does not have,
/// NaN or an infinity, becomes null.
final class TensorSerializer extends JsonSerializer<Tensor> {

    private interface Elements {
        void write(int index) throws IOException;
    }

    @Override
    public void serialize(Tensor tensor, JsonGenerator json, SerializerProvider serializers) throws IOException {
        write(elements(tensor, json), tensor.shape(), 0, 0, json);
    }

    /// @param index of the first element
    /// @return that of the first one behind it
    private static int write(Elements elements, int[] shape, int depth, int index, JsonGenerator json)
            throws IOException {
        if (depth == shape.length) {
            elements.write(index);
            return index + 1;
        }
        json.writeStartArray();
        int end = index;
        for (int i = 0; i < shape[depth]; i++) {
            end = write(elements, shape, depth + 1, end, json);
        }
        json.writeEndArray();
        return end;
    }

    private static Elements elements(Tensor tensor, JsonGenerator json) {
        return switch (tensor.type()) {
            case STRING -> i -> json.writeString(tensor.texts().get(i));
            case FLOAT64 -> {
                var values = tensor.doubles();
                yield i -> {
                    if (Double.isFinite(values[i])) {
                        json.writeNumber(values[i]);
                    } else {
                        json.writeNull();
                    }
                };
            }
            case FLOAT16, FLOAT32 -> {
                var values = tensor.floats();
                yield i -> {
                    if (Float.isFinite(values[i])) {
                        json.writeNumber(values[i]);
                    } else {
                        json.writeNull();
                    }
                };
            }
            case BOOL -> {
                var values = tensor.longs();
                yield i -> json.writeBoolean(values[i] != 0);
            }
            case UINT8, INT8, INT16, INT32, INT64 -> {
                var values = tensor.longs();
                yield i -> json.writeNumber(values[i]);
            }
        };
    }
}
