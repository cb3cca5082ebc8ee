package dev.berth.handler.task;

import dev.berth.engine.EngineException;
import dev.berth.hooks.ElementType;
import dev.berth.hooks.Tensor;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.stream.IntStream;

/// What a [RowModel] says of a batch of rows.
///
/// @param tensors one for each output of the artifact, checked for nothing but their number; numbers
///   with fractions are float32
/// @param count how many rows the model got, the rows of padding included
/// @param columns how many tokens each of them had
public record RowOutputs(List<Tensor> tensors, int count, int columns) {

    /// An output of a number for each token, row behind row.
    ///
    /// @param name what messages call it
    public float[] ofTokens(int output, String name) {
        var found = tensors.get(output);
        require(found, found.rank() == 2 && isOfTokens(found), name, "%d, %d".formatted(count, columns));
        return found.floats();
    }

    /// For each of the first `rows` rows its numbers in the only output.
    public List<float[]> ofRows(String name, int rows) {
        var found = tensors.getFirst();
        require(found, found.rank() == 2 && found.shape()[0] == count, name, "%d, …".formatted(count));
        return IntStream.range(0, rows)
                .mapToObj(row -> lines(found, IntStream.of(row)))
                .toList();
    }

    /// For each row the numbers of some of its tokens in the only output, one token behind the other.
    ///
    /// @param places of those tokens in each row
    public List<float[]> ofPlaces(String name, List<int[]> places) {
        var found = tensors.getFirst();
        // The file may have gathered the wanted tokens of all rows.
        boolean isGathered = found.rank() == 2
                && found.shape()[0]
                        == places.stream().mapToInt(wanted -> wanted.length).sum();
        require(
                found,
                isGathered || (found.rank() == 3 && isOfTokens(found)),
                name,
                "%d, %d, …".formatted(count, columns));
        var numbers = new ArrayList<float[]>(places.size());
        int gathered = 0;
        for (var wanted : places) {
            int first = isGathered ? gathered : numbers.size() * columns;
            var lines = isGathered ? IntStream.range(0, wanted.length) : Arrays.stream(wanted);
            numbers.add(lines(found, lines.map(line -> first + line)));
            gathered += wanted.length;
        }
        return numbers;
    }

    private boolean isOfTokens(Tensor found) {
        return found.shape()[0] == count && found.shape()[1] == columns;
    }

    private static void require(Tensor found, boolean fits, String name, String shape) {
        if (found.type() != ElementType.FLOAT32 || !fits) {
            throw new EngineException("%s: found %s, expected float32[%s]".formatted(name, found, shape));
        }
    }

    /// Some lines of a tensor. Not all of it: a vocabulary for each token is dozens of megabytes.
    private static float[] lines(Tensor tensor, IntStream lines) {
        int width = tensor.shape()[tensor.rank() - 1];
        var all = tensor.data().order(ByteOrder.LITTLE_ENDIAN).asFloatBuffer();
        var from = lines.toArray();
        var numbers = new float[from.length * width];
        for (int i = 0; i < from.length; i++) {
            all.get(from[i] * width, numbers, i * width, width);
        }
        return numbers;
    }
}
