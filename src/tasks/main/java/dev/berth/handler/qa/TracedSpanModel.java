package dev.berth.handler.qa;

import dev.berth.engine.EngineException;
import dev.berth.handler.task.Row;
import dev.berth.handler.task.RowModel;
import dev.berth.hooks.ElementType;
import java.util.Arrays;
import java.util.List;
import java.util.stream.IntStream;

/// The files of an artifact on one accelerator.
final class TracedSpanModel implements SpanModel {

    static final List<String> OUTPUTS = List.of("start_logits", "end_logits");

    /// Tokens of any vocabulary.
    private static final long[] SMALL_IDS = {0, 1, 2, 3, 4, 5, 6, 7};

    private final RowModel rows;

    TracedSpanModel(RowModel rows) {
        this.rows = rows;
    }

    /// The most tokens of a row.
    int maxSequence() {
        return rows.maxSequence();
    }

    @Override
    public void warmUp() {
        rows.warmUps(new Row(new long[1], new long[1])).forEach(this::forward);
        rows.requireIndependence(new Row(SMALL_IDS, new long[SMALL_IDS.length]), _ -> true, this::byRows);
    }

    @Override
    public int rowsOfAForward(int length) {
        return rows.rowsOfAForward(length);
    }

    @Override
    public Logits forward(List<Row> some) {
        var outputs = rows.forward(some);
        return new Logits(logits(outputs, 0), logits(outputs, 1), outputs.columns());
    }

    /// For each row its logits.
    private List<float[]> byRows(List<Row> some) {
        var logits = forward(some);
        return IntStream.range(0, some.size())
                .mapToObj(row -> {
                    int size = some.get(row).size();
                    var both = Arrays.copyOfRange(
                            logits.start(), row * logits.columns(), row * logits.columns() + 2 * size);
                    System.arraycopy(logits.end(), row * logits.columns(), both, size, size);
                    return both;
                })
                .toList();
    }

    private static float[] logits(RowModel.Outputs outputs, int index) {
        var output = outputs.tensors().get(index);
        var expected = new int[] {outputs.count(), outputs.columns()};
        if (output.type() != ElementType.FLOAT32 || !Arrays.equals(output.shape(), expected)) {
            throw new EngineException("%s: found %s, expected float32[%d, %d]"
                    .formatted(OUTPUTS.get(index), output, outputs.count(), outputs.columns()));
        }
        return output.floats();
    }
}
