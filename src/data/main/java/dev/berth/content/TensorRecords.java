package dev.berth.content;

import dev.berth.hooks.BadInputException;
import dev.berth.hooks.ElementType;
import dev.berth.hooks.Tensor;
import dev.berth.memory.HeapSize;
import dev.berth.memory.RequestMemory;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.IntFunction;

/// The records of a payload as tensors.
///
/// @param record reads the record at a place, so that a bad one can fail alone with a
///   [BadInputException]: for each input of the model a tensor
/// @param form how they were written
/// @param block for each input of the model the records on each other, along a first dimension of `count`,
///   in the shapes of [TableColumns#shaped]; empty: nobody knows yet whether all are good and alike
public record TensorRecords(
        int count, IntFunction<List<Tensor>> record, Instances.Form form, Optional<List<Tensor>> block) {

    /// On their way to the model, elements are stacked and handed over.
    private static final long COPIES = 2;

    public TensorRecords(int count, IntFunction<List<Tensor>> record, Instances.Form form) {
        this(count, record, form, Optional.empty());
    }

    /// Reads the record at a place, and counts it.
    public List<Tensor> at(int place) {
        var tensors = record.apply(place);
        RequestMemory.charge(
                HeapSize.RECORD + HeapSize.TENSOR * tensors.size() + (block.isEmpty() ? copies(tensors) : 0));
        return tensors;
    }

    private static long copies(List<Tensor> tensors) {
        return COPIES * tensors.stream().mapToLong(TensorRecords::bytes).sum();
    }

    private static long bytes(Tensor tensor) {
        return tensor.type() == ElementType.STRING
                ? tensor.texts().stream()
                        .mapToLong(text -> HeapSize.TEXT + HeapSize.CHARACTER * text.length())
                        .sum()
                : tensor.data().remaining();
    }

    /// Batches as records, which are taken apart once somebody asks for one.
    ///
    /// @param batches the rows of each input
    /// @throws BadInputException when an input has more rows than another, or has none
    static TensorRecords rows(List<Tensor> batches, TensorInputs inputs, String name, Instances.Form form) {
        for (var batch : batches) {
            if (batch.rank() == 0 || batch.shape()[0] != batches.getFirst().shape()[0]) {
                throw new BadInputException("%s: found %s, expected as many rows in each".formatted(name, batches));
            }
        }
        int count = batches.getFirst().shape()[0];
        var block = inputs.table().shaped(batches, count);
        RequestMemory.charge(copies(block));
        var parts = new ArrayList<List<Tensor>>();
        return new TensorRecords(
                count,
                row -> {
                    if (parts.isEmpty()) {
                        RequestMemory.charge(HeapSize.TENSOR * block.size() * count);
                        block.forEach(batch -> parts.add(batch.unstack()));
                    }
                    return parts.stream().map(part -> part.get(row)).toList();
                },
                form,
                Optional.of(block));
    }
}
