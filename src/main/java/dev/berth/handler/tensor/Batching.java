package dev.berth.handler.tensor;

import dev.berth.engine.GraphNames;
import dev.berth.hooks.Tensor;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/// Where the records are in what a model takes and returns, as far as its file tells: along the
/// first dimension, unless this says otherwise.
final class Batching {

  /// Of inputs and outputs, by their names.
  private final Map<String, List<Integer>> shapes;

  private final List<String> inputs;

  private final boolean isForOne;
  private final boolean isWhole;

  Batching(GraphNames names) {
    var firsts =
        names.inputs().stream()
            .map(names.shapes()::get)
            .filter(Objects::nonNull)
            .map(shape -> shape.isEmpty() ? 0 : shape.getFirst())
            .collect(Collectors.toSet());
    this.shapes = names.shapes();
    this.inputs = names.inputs();
    this.isForOne = firsts.equals(Set.of(1));
    this.isWhole = !isForOne && !Set.of(-1).containsAll(firsts);
  }

  /// Whether a record is all that a forward takes, and batches have one: the first dimension of the
  /// inputs is neither free in all of them nor 1 in all, so there is none for records.
  boolean isWhole() {
    return isWhole;
  }

  /// Whether a forward takes no more than one record.
  boolean isAlone() {
    return isWhole || isForOne;
  }

  /// The shape of an input in a record, -1 for any length; nothing where the file does not tell.
  Optional<List<Integer>> record(int input) {
    return Optional.of(input)
        .filter(i -> i < inputs.size())
        .map(i -> shapes.get(inputs.get(i)))
        .map(shape -> isWhole ? shape : shape.subList(1, shape.size()));
  }

  /// What a forward takes of batches, each with the records as its first dimension.
  List<Tensor> given(List<Tensor> batches) {
    return isWhole ? batches.stream().map(batch -> batch.unstack().getFirst()).toList() : batches;
  }

  /// An output with a first dimension for records. What a model for one record returns is all the
  /// record's: any number of boxes, or the steps of a text line before it.
  Tensor batch(Tensor output, String name) {
    var shape = shapes.get(name);
    boolean isFree = shape != null && !shape.isEmpty() && shape.getFirst() < 0;
    boolean isNumber = output.rank() == 0;
    boolean isOfOne =
        isWhole
            || (isNumber && shape != null && shape.isEmpty())
            || (isForOne && (isFree || isNumber || output.shape()[0] != 1));
    return isOfOne
        ? output.reshape(IntStream.concat(IntStream.of(1), Arrays.stream(output.shape())).toArray())
        : output;
  }
}
