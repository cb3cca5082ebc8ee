package dev.berth.content;

import dev.berth.hooks.BadInputException;
import dev.berth.hooks.ElementType;
import dev.berth.hooks.Tensor;
import dev.berth.memory.HeapSize;
import dev.berth.memory.RequestMemory;
import java.util.List;
import java.util.Optional;
import java.util.function.IntFunction;

/// The records of a payload as tensors.
///
/// @param record reads the record at a place, so that a bad one can fail alone with a
///   [BadInputException]: for each input of the model a tensor
/// @param form how they were written
/// @param block for each input its rows on each other, where all are good and of one shape; empty: that is
///   not known
public record TensorRecords(
        int count, IntFunction<List<Tensor>> record, Instances.Form form, Optional<List<Tensor>> block) {

    /// On their way to the model, elements are stacked and handed over.
    private static final long COPIES = 2;

    TensorRecords(int count, IntFunction<List<Tensor>> record, Instances.Form form) {
        this(count, record, form, Optional.empty());
    }

    /// Reads the record at a place, and counts it.
    public List<Tensor> at(int place) {
        return counted(record.apply(place));
    }

    /// Reads all records as one block, and counts them; nothing where there is none.
    public Optional<List<Tensor>> all() {
        return block.map(TensorRecords::counted);
    }

    private static List<Tensor> counted(List<Tensor> tensors) {
        long bytes = tensors.stream().mapToLong(TensorRecords::bytes).sum();
        RequestMemory.charge(HeapSize.RECORD + HeapSize.TENSOR * tensors.size() + COPIES * bytes);
        return tensors;
    }

    private static long bytes(Tensor tensor) {
        return tensor.type() == ElementType.STRING
                ? tensor.texts().stream()
                        .mapToLong(text -> HeapSize.TEXT + HeapSize.CHARACTER * text.length())
                        .sum()
                : tensor.data().remaining();
    }

    /// Takes batches apart into records.
    ///
    /// @param batches the rows of each input
    /// @throws BadInputException when an input has more rows than another, or has none
    static TensorRecords rows(List<Tensor> batches, String name, Instances.Form form) {
        for (var batch : batches) {
            if (batch.rank() == 0 || batch.shape()[0] != batches.getFirst().shape()[0]) {
                throw new BadInputException("%s: found %s, expected as many rows in each".formatted(name, batches));
            }
        }
        RequestMemory.charge(
                HeapSize.TENSOR * batches.size() * batches.getFirst().shape()[0]);
        var parts = batches.stream().map(Tensor::unstack).toList();
        return new TensorRecords(
                parts.getFirst().size(),
                row -> parts.stream().map(part -> part.get(row)).toList(),
                form,
                Optional.of(batches));
    }
}
