package dev.berth.openinference;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import dev.berth.content.JsonTensors;
import dev.berth.hooks.BadInputException;
import dev.berth.hooks.ElementType;
import dev.berth.memory.RequestMemory;
import java.util.Arrays;
import java.util.List;

/// The records that the rows of tensors are, as JSON: the values of one input alone, or objects
/// with a field for each input.
final class InferRecords {

    /// What an element, or an empty list, costs as a node and as text, in bytes.
    private static final int NODE = 120;

    private InferRecords() {}

    /// @param areTensors whether each row has the shape that it has in its tensor; else a text alone
    ///   stands for itself, be it in lists or not
    /// @throws BadInputException when an input has more rows than another
    static ArrayNode of(List<InferTensor> inputs, boolean areTensors) {
        int count = rows(inputs.getFirst());
        for (int i = 0; i < inputs.size(); i++) {
            if (rows(inputs.get(i)) != count) {
                throw new BadInputException(
                        "inputs[%d].shape: found %s, expected %d as the first length, as in inputs[0]"
                                .formatted(i, Arrays.toString(inputs.get(i).shape()), count));
            }
        }
        var columns = inputs.stream().map(input -> column(input, areTensors)).toList();
        if (columns.size() == 1) {
            return columns.getFirst();
        }
        var records = JsonNodeFactory.instance.arrayNode();
        for (int row = 0; row < count; row++) {
            var record = records.addObject();
            for (int i = 0; i < inputs.size(); i++) {
                record.set(inputs.get(i).name(), columns.get(i).get(row));
            }
        }
        return records;
    }

    static int rows(InferTensor input) {
        return input.shape().length == 0 ? 1 : input.shape()[0];
    }

    private static ArrayNode column(InferTensor input, boolean areTensors) {
        RequestMemory.charge(Arrays.stream(input.shape())
                .mapToLong(length -> Math.max(1, length))
                .reduce(NODE, (nodes, length) -> nodes * length));
        var tensor = input.tensor();
        if (!areTensors && tensor.type() == ElementType.STRING) {
            tensor = tensor.reshape(withoutListsOfOne(tensor.shape()));
        }
        var values = areTensors ? JsonTensors.writeToRead(tensor) : JsonTensors.write(tensor);
        return values instanceof ArrayNode rows
                ? rows
                : JsonNodeFactory.instance.arrayNode().add(values);
    }

    private static int[] withoutListsOfOne(int[] shape) {
        int rank = shape.length;
        while (rank > 1 && shape[rank - 1] == 1) {
            rank--;
        }
        return Arrays.copyOf(shape, rank);
    }
}
