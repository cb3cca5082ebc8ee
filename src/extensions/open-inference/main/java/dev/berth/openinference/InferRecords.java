package dev.berth.openinference;

import com.google.protobuf.ByteString;
import dev.berth.content.JsonTensors;
import dev.berth.hooks.BadInputException;
import dev.berth.hooks.Tensor;
import dev.berth.memory.RequestMemory;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.stream.IntStream;

/// The records that the rows of tensors are, as JSON: the values of one input alone, or objects
/// with a field for each input.
final class InferRecords {

    /// What an element, or an empty list, costs as a node and as text, in bytes.
    private static final int NODE = 120;

    private InferRecords() {}

    /// @param areTensors whether each row has the shape that it has in its tensor; else a text alone
    ///   stands for itself, be it in lists or not
    /// @throws BadInputException when an input has more rows than another
    static List<Object> of(List<InferTensor> inputs, boolean areTensors) {
        int count = rows(inputs.getFirst());
        var columns = new ArrayList<List<Object>>();
        for (int i = 0; i < inputs.size(); i++) {
            if (rows(inputs.get(i)) != count) {
                throw new BadInputException(
                        "inputs[%d].shape: found %s, expected %d as the first length, as in inputs[0]"
                                .formatted(i, Arrays.toString(inputs.get(i).shape()), count));
            }
            columns.add(column(inputs.get(i), areTensors));
        }
        if (inputs.size() == 1) {
            return columns.getFirst();
        }
        return IntStream.range(0, count)
                .<Object>mapToObj(row -> {
                    var record = new LinkedHashMap<String, Object>();
                    for (int i = 0; i < inputs.size(); i++) {
                        record.put(inputs.get(i).name(), columns.get(i).get(row));
                    }
                    return record;
                })
                .toList();
    }

    static int rows(InferTensor input) {
        return input.shape().length == 0 ? 1 : input.shape()[0];
    }

    private static List<Object> column(InferTensor input, boolean areTensors) {
        RequestMemory.charge(Arrays.stream(input.shape())
                .mapToLong(length -> Math.max(1, length))
                .reduce(NODE, (nodes, length) -> nodes * length));
        var tensor = switch (input) {
            case InferTensor.Numbers(var _, var numbers) -> numbers;
            case InferTensor.Bytes bytes -> {
                RequestMemory.charge(8L * bytes.length());
                var texts = bytes.elements().stream().map(InferRecords::text).toArray(String[]::new);
                yield Tensor.of(texts, areTensors ? bytes.shape() : withoutListsOfOne(bytes.shape()));
            }
        };
        var rows = tensor.rank() == 0 ? List.of(tensor) : tensor.unstack();
        return rows.stream()
                .<Object>map(areTensors ? JsonTensors::writeToRead : JsonTensors::write)
                .toList();
    }

    private static int[] withoutListsOfOne(int[] shape) {
        int rank = shape.length;
        while (rank > 1 && shape[rank - 1] == 1) {
            rank--;
        }
        return Arrays.copyOf(shape, rank);
    }

    /// Bytes that are no text go in base64, as hooks take pictures.
    private static String text(ByteString element) {
        return element.isValidUtf8() ? element.toStringUtf8() : InferTensor.base64(element);
    }
}
