package dev.berth.handler.tensor;

import dev.berth.hooks.BadInputException;
import dev.berth.hooks.Tensor;
import dev.berth.memory.HeapSize;
import dev.berth.memory.RequestMemory;
import java.nio.IntBuffer;
import java.util.AbstractList;
import java.util.Arrays;
import java.util.List;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/// A record that is several rows of a request: for each input of the model what it gets of them, with the
/// rows as the first dimension.
final class Rows extends AbstractList<Tensor> {

    private final List<Tensor> tensors;

    /// Whether they go through the model beside others, and may be cut. Else they are all of a request.
    private final boolean isMerged;

    Rows(List<Tensor> tensors, boolean isMerged) {
        this.tensors = tensors;
        this.isMerged = isMerged;
    }

    /// A record that is one row as a block of one.
    static Rows of(List<Tensor> record) {
        return record instanceof Rows rows
                ? rows
                : new Rows(
                        record.stream()
                                .map(tensor ->
                                        tensor.reshape(IntStream.concat(IntStream.of(1), Arrays.stream(tensor.shape()))
                                                .toArray()))
                                .toList(),
                        true);
    }

    /// All rows of a request.
    ///
    /// @throws BadInputException when the rows have different shapes
    static Rows whole(List<List<Tensor>> rows) {
        var first = rows.getFirst().toString();
        for (int i = 1; i < rows.size(); i++) {
            if (!rows.get(i).toString().equals(first)) {
                throw new BadInputException(
                        "row %d of %d: found %s, expected %s as in the first row: the model takes all rows of a request in one forward"
                                .formatted(i + 1, rows.size(), rows.get(i), first));
            }
        }
        return new Rows(RowAxes.columns(rows), false);
    }

    boolean isMerged() {
        return isMerged;
    }

    int count() {
        return tensors.getFirst().shape()[0];
    }

    /// What rows that go through the model together have in common: types and shapes.
    List<?> kind() {
        return tensors.stream()
                .flatMap(tensor -> Stream.of(tensor.type(), IntBuffer.wrap(tensor.shape(), 1, tensor.rank() - 1)))
                .toList();
    }

    /// Blocks of at most so many rows; nothing is copied.
    List<List<Tensor>> cut(int most) {
        int count = count();
        RequestMemory.charge((HeapSize.RECORD + HeapSize.TENSOR * size()) * Math.ceilDiv(count, most));
        return count <= most
                ? List.of(this)
                : IntStream.range(0, Math.ceilDiv(count, most))
                        .mapToObj(i -> i * most)
                        .<List<Tensor>>map(from -> part(from, Math.min(count, from + most)))
                        .toList();
    }

    /// Those from `from` to before `to`; nothing is copied.
    Rows part(int from, int to) {
        return new Rows(tensors.stream().map(tensor -> tensor.rows(from, to)).toList(), isMerged);
    }

    /// What the model made of blocks, behind each other.
    static List<Tensor> joined(List<List<Tensor>> blocks) {
        if (blocks.stream().anyMatch(Unlike.class::isInstance)
                || blocks.stream().map(Rows::of).map(Rows::kind).distinct().count() > 1) {
            return new Unlike(blocks);
        }
        RequestMemory.charge(blocks.stream()
                .flatMap(List::stream)
                .mapToLong(tensor -> tensor.data().remaining())
                .sum());
        return new Rows(RowAxes.columns(blocks), true);
    }

    /// Blocks whose rows have different shapes, such as those that a model pads to the longest of a batch.
    static final class Unlike extends AbstractList<Tensor> {

        private final List<List<Tensor>> blocks;

        private Unlike(List<List<Tensor>> blocks) {
            this.blocks = blocks;
        }

        List<List<Tensor>> rows() {
            return blocks.stream()
                    .flatMap(block ->
                            (block instanceof Unlike unlike ? unlike.rows() : RowAxes.unstacked(block)).stream())
                    .toList();
        }

        @Override
        public Tensor get(int index) {
            throw new IllegalStateException("found rows of different shapes, expected them one by one");
        }

        @Override
        public int size() {
            return blocks.getFirst().size();
        }
    }

    @Override
    public Tensor get(int index) {
        return tensors.get(index);
    }

    @Override
    public int size() {
        return tensors.size();
    }
}
