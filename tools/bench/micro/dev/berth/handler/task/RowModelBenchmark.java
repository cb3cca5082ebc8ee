package dev.berth.handler.task;

import dev.berth.benchmark.Defaults;
import dev.berth.hooks.Tensor;
import java.util.List;
import java.util.stream.IntStream;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.State;

/// From rows of tokens to the three tensors that the model takes.
@State(Scope.Benchmark)
public class RowModelBenchmark extends Defaults {

    private final List<Row> one = List.of(row(175));
    private final List<Row> batch =
            IntStream.rangeClosed(1, 16).mapToObj(i -> row(i * 24)).toList();

    private static Row row(int length) {
        return new Row(new long[length], new long[length]);
    }

    /// What a CPU gets: a row by itself, 175 tokens long.
    @Benchmark
    public List<Tensor> oneRow() {
        return tensors(one, 1, 175);
    }

    /// What a GPU gets: 16 rows of 24 to 384 tokens, padded to the longest.
    @Benchmark
    public List<Tensor> paddedBatch() {
        return tensors(batch, 16, 384);
    }

    private static List<Tensor> tensors(List<Row> rows, int count, int columns) {
        return RowModel.INPUTS.stream()
                .map(input -> RowModel.tensor(input, rows, count, columns, 0))
                .toList();
    }
}
