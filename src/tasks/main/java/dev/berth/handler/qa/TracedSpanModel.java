package dev.berth.handler.qa;

import dev.berth.handler.task.Row;
import dev.berth.handler.task.RowModel;
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

    @Override
    public void warmUp() {
        rows.warmUp(new Row(SMALL_IDS, new long[SMALL_IDS.length]), this::byRows);
    }

    @Override
    public int rowsOfAForward(int length) {
        return rows.rowsOfAForward(length);
    }

    @Override
    public Logits forward(List<Row> some) {
        var outputs = rows.forward(some);
        return new Logits(
                outputs.ofTokens(0, OUTPUTS.getFirst()), outputs.ofTokens(1, OUTPUTS.getLast()), outputs.columns());
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
}
