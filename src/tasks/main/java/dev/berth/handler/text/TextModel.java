package dev.berth.handler.text;

import dev.berth.engine.EngineException;
import dev.berth.handler.task.Row;
import dev.berth.handler.task.RowModel;
import dev.berth.hooks.ElementType;
import dev.berth.hooks.Tensor;
import dev.berth.tokenizer.Encoding;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.function.Function;
import java.util.stream.IntStream;

/// The model of one accelerator: rows of tokens in, the numbers of its one output for each row out.
public final class TextModel {

    private final String output;
    private final boolean perToken;
    private final RowModel rows;

    /// @param perToken whether the output has numbers for each token, and not for the row
    TextModel(String output, boolean perToken, RowModel rows) {
        this.output = output;
        this.perToken = perToken;
        this.rows = rows;
    }

    /// Runs each shape, and a few rows together.
    ///
    /// @param places finds the tokens of a row whose numbers are wanted, where tokens have numbers of
    ///   their own
    void warmUp(Encoding example, Function<long[], int[]> places) {
        rows.warmUps(row(example)).forEach(some -> run(some, places));
        rows.requireIndependence(row(example), some -> places.apply(some.ids()).length > 0, some -> run(some, places));
    }

    /// The output of the model for each row: all numbers of a row, or those of the wanted tokens one
    /// behind the other.
    ///
    /// @param places finds the wanted tokens of a row
    List<float[]> forward(List<Encoding> asked, Function<long[], int[]> places) {
        var answers = new ArrayList<float[]>(asked.size());
        if (asked.isEmpty()) {
            return answers;
        }
        int most = rows.rowsOfAForward(
                asked.stream().mapToInt(Encoding::size).max().orElseThrow());
        for (int from = 0; from < asked.size(); from += most) {
            var some = asked.subList(from, Math.min(from + most, asked.size()));
            answers.addAll(run(some.stream().map(TextModel::row).toList(), places));
        }
        return answers;
    }

    private static Row row(Encoding row) {
        return new Row(row.ids(), row.typeIds());
    }

    private List<float[]> run(List<Row> some, Function<long[], int[]> find) {
        var places = some.stream().map(row -> find.apply(row.ids())).toList();
        var outputs = rows.forward(some);
        var found = outputs.tensors().getFirst();
        boolean fits = found.type() == ElementType.FLOAT32
                && switch (found.rank()) {
                    case 2 ->
                        found.shape()[0]
                                == (perToken
                                        ? places.stream()
                                                .mapToInt(wanted -> wanted.length)
                                                .sum()
                                        : outputs.count());
                    case 3 -> perToken && found.shape()[0] == outputs.count() && found.shape()[1] == outputs.columns();
                    default -> false;
                };
        if (!fits) {
            throw new EngineException("%s: found %s, expected float32[%d, %s…]"
                    .formatted(output, found, outputs.count(), perToken ? outputs.columns() + ", " : ""));
        }
        int width = found.shape()[found.rank() - 1];
        var answers = new ArrayList<float[]>(some.size());
        int gathered = 0;
        for (int r = 0; r < some.size(); r++) {
            var wanted = places.get(r);
            int first = r * outputs.columns();
            int from = gathered;
            var lines = !perToken
                    ? IntStream.of(r)
                    // The file may have gathered the wanted tokens of all rows.
                    : found.rank() == 2
                            ? IntStream.range(from, from + wanted.length)
                            : Arrays.stream(wanted).map(place -> first + place);
            answers.add(numbers(found, lines.toArray(), width));
            gathered += wanted.length;
        }
        return answers;
    }

    /// Some lines of a tensor, each of `width` numbers. Not all of it: a vocabulary for each token is
    /// dozens of megabytes.
    private static float[] numbers(Tensor tensor, int[] lines, int width) {
        var all = tensor.data().order(ByteOrder.LITTLE_ENDIAN).asFloatBuffer();
        var numbers = new float[lines.length * width];
        for (int i = 0; i < lines.length; i++) {
            all.get(lines[i] * width, numbers, i * width, width);
        }
        return numbers;
    }
}
