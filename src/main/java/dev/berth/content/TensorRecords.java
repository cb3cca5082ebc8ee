package dev.berth.content;

import dev.berth.hooks.BadInputException;
import dev.berth.hooks.Tensor;
import java.util.List;
import java.util.function.Supplier;
import java.util.stream.IntStream;

/// The records of a payload as tensors.
///
/// @param records for each input of the model a tensor. A record is read when it is asked for, so that a bad one can
///     fail alone with a [BadInputException]
/// @param form how they were written
public record TensorRecords(List<Supplier<List<Tensor>>> records, Instances.Form form) {

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
    var parts = batches.stream().map(Tensor::unstack).toList();
    return new TensorRecords(
        IntStream.range(0, parts.getFirst().size())
            .<Supplier<List<Tensor>>>mapToObj(row -> () -> parts.stream().map(part -> part.get(row)).toList())
            .toList(),
        form);
  }
}
