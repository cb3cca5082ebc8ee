package dev.berth.handler.tensor;

import dev.berth.content.TensorPredictions;
import dev.berth.engine.GraphNames;
import dev.berth.engine.GraphPort;
import dev.berth.engine.RowCheck;
import dev.berth.hooks.Tensor;
import dev.berth.memory.HeapSize;
import dev.berth.memory.RequestMemory;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Set;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/// Where the rows are in what a model takes and returns, as far as its file tells: along the first
/// dimension, unless this says otherwise. Immutable.
final class RowAxes {

    /// Names that exporters number. They say of two dimensions neither that they are the same nor
    /// that they differ.
    private static final Pattern NUMBERED =
            Pattern.compile("\\?|unk__\\d+|[su]\\d+|\\w*_dim_\\d+|(p2o\\.)?DynamicDimension\\.\\d+");

    private final GraphNames names;
    private final boolean isForOne;
    private final boolean isWhole;

    /// What the file calls the first dimensions of its inputs.
    private final List<String> symbols;

    RowAxes(GraphNames names) {
        this.names = names;
        var firsts = names.inputs().stream()
                .flatMap(input -> input.shape().stream())
                .map(shape -> shape.isEmpty() ? 0 : shape.getFirst())
                .collect(Collectors.toSet());
        this.isForOne = firsts.equals(Set.of(1));
        this.isWhole = !isForOne && !Set.of(-1).containsAll(firsts);
        this.symbols = names.inputs().stream()
                .map(RowAxes::symbol)
                .filter(symbol -> !symbol.isEmpty())
                .distinct()
                .toList();
    }

    /// Whether a forward takes any number of rows.
    boolean haveRows() {
        return !isWhole && !isForOne;
    }

    List<String> symbols() {
        return symbols;
    }

    /// The shape of an output as the file has it, such as `[2, n, 3]`.
    List<String> shown(String name) {
        var output = names.output(name).orElseThrow();
        var shape = output.shape().orElseThrow();
        return IntStream.range(0, shape.size())
                .mapToObj(i -> shape.get(i) >= 0
                        ? shape.get(i).toString()
                        : output.symbols().get(i).isEmpty()
                                ? "?"
                                : output.symbols().get(i))
                .toList();
    }

    /// Whether a record is all that a forward takes: the first dimension of the inputs is neither
    /// free in all of them nor 1 in all, so there is none for records.
    boolean isWhole() {
        return isWhole;
    }

    /// The shape of an input in a record, -1 for any length; nothing where the file does not tell.
    Optional<List<Integer>> record(int input) {
        return Optional.of(input)
                .filter(i -> i < names.inputs().size())
                .flatMap(i -> names.inputs().get(i).shape())
                .map(shape -> isWhole ? shape : shape.subList(1, shape.size()));
    }

    private static String symbol(GraphPort port) {
        var symbol = port.symbols().isEmpty() ? "" : port.symbols().getFirst();
        return NUMBERED.matcher(symbol).matches() ? "" : symbol;
    }

    /// The shape of an output; nothing where the file does not tell.
    Optional<List<Integer>> shape(String output) {
        return names.output(output).flatMap(GraphPort::shape);
    }

    /// Whether an output begins with the rows, which it does where the file does not tell. All rows have
    /// the whole of a constant.
    boolean hasRows(String output) {
        return names.output(output).stream().allMatch(this::hasRows);
    }

    private boolean hasRows(GraphPort output) {
        var shape = output.shape().orElse(List.of());
        if (shape.isEmpty() || output.hasValue()) {
            return true;
        }
        var own = symbol(output);
        boolean isOther = symbols.size() == 1
                && (own.isEmpty() ? output.symbols().contains(symbols.getFirst()) : !symbols.contains(own));
        return shape.getFirst() < 0 && !isOther;
    }

    /// Whether an output begins with the rows where `model.json` says so: the file may only have another
    /// name for them there.
    boolean mayHaveRows(String output) {
        return hasRows(output)
                || (shape(output).orElseThrow().getFirst() < 0 && Collections.disjoint(shown(output), symbols));
    }

    /// Whether the file tells the shapes of its inputs.
    boolean isDeclared() {
        return rank().isPresent();
    }

    /// How many dimensions the first input has; empty: the file does not tell.
    OptionalInt rank() {
        return names.inputs().stream()
                .limit(1)
                .flatMap(input -> input.shape().stream())
                .mapToInt(List::size)
                .findFirst();
    }

    /// Whether the file says that an output has a part for each row.
    boolean hasParts(String output) {
        return shape(output).isPresent() && hasRows(output);
    }

    /// For each input of the model, or each output, the rows of records behind each other.
    static List<Tensor> columns(List<? extends List<Tensor>> records) {
        var blocks = records.stream().map(Rows::of).toList();
        return IntStream.range(0, blocks.getFirst().size())
                .mapToObj(input -> Tensor.concatenate(
                        blocks.stream().map(block -> block.get(input)).toList()))
                .toList();
    }

    /// The elements of a row in all inputs and outputs; empty: the file does not tell.
    OptionalInt rowSize() {
        long size = names.inputs().isEmpty() ? Integer.MAX_VALUE : 0;
        for (var port :
                Stream.of(names.inputs(), names.outputs()).flatMap(List::stream).toList()) {
            long row = 1;
            for (int length :
                    port.shape().orElse(List.of(-1, -1)).stream().skip(1).toList()) {
                row = length < 0 ? Integer.MAX_VALUE : Math.min(Integer.MAX_VALUE, row * length);
            }
            size += row;
        }
        return size < Integer.MAX_VALUE ? OptionalInt.of((int) size) : OptionalInt.empty();
    }

    /// What a forward takes of batches, each with the records as its first dimension.
    List<Tensor> given(List<Tensor> batches) {
        return isWhole
                ? batches.stream().map(batch -> batch.unstack().getFirst()).toList()
                : batches;
    }

    /// For each record its part of each output.
    ///
    /// @throws RowCheck.NoRowsException as [#rows]
    List<List<Tensor>> parts(List<Tensor> outputs, List<String> called, int count) {
        var parts = IntStream.range(0, outputs.size())
                .mapToObj(i -> isConstant(TensorPredictions.name(called, i))
                        ? Collections.nCopies(count, outputs.get(i))
                        : rows(outputs.get(i), TensorPredictions.name(called, i), count, outputs.size() > 1)
                                .unstack())
                .toList();
        return IntStream.range(0, count)
                .mapToObj(row -> parts.stream().map(part -> part.get(row)).toList())
                .toList();
    }

    boolean haveConstants(List<String> outputs) {
        return outputs.stream().anyMatch(this::isConstant);
    }

    private boolean isConstant(String output) {
        return names.output(output).filter(GraphPort::hasValue).isPresent();
    }

    /// For each row its part of each tensor.
    static List<List<Tensor>> unstacked(List<Tensor> tensors) {
        RequestMemory.charge((HeapSize.RECORD + HeapSize.TENSOR * tensors.size())
                * tensors.getFirst().shape()[0]);
        var parts = tensors.stream().map(Tensor::unstack).toList();
        return IntStream.range(0, parts.getFirst().size())
                .mapToObj(row -> parts.stream().map(part -> part.get(row)).toList())
                .toList();
    }

    /// Each output with the records' parts of it along its first dimension.
    ///
    /// @param called the names of the outputs that have some
    /// @throws RowCheck.NoRowsException when one of them has no part for each
    List<Tensor> rows(List<Tensor> outputs, List<String> called, int count) {
        return IntStream.range(0, outputs.size())
                .mapToObj(i -> rows(outputs.get(i), TensorPredictions.name(called, i), count, outputs.size() > 1))
                .toList();
    }

    /// What a model for one record returns is all the record's: any number of boxes, or the steps of
    /// a text line before it.
    private Tensor rows(Tensor output, String name, int count, boolean hasOthers) {
        var shape = shape(name);
        boolean isFree = shape.filter(lengths -> !lengths.isEmpty() && lengths.getFirst() < 0)
                .isPresent();
        boolean isNumber = output.rank() == 0;
        boolean isOfOne = isWhole
                || (isNumber && shape.filter(List::isEmpty).isPresent())
                || (isForOne && (isFree || isNumber || output.shape()[0] != 1));
        if (isOfOne && count == 1) {
            return Tensor.stack(List.of(output));
        }
        if (isNumber || output.shape()[0] != count) {
            throw new RowCheck.NoRowsException(
                    "the model returned %s for a batch of %d, expected a first dimension of %d%s"
                            .formatted(
                                    output,
                                    count,
                                    count,
                                    hasOthers ? "; \"outputs\" in model.json may leave it out" : ""));
        }
        return output;
    }
}
