package dev.berth.content;

import dev.berth.hooks.BadInputException;
import dev.berth.hooks.ElementType;
import dev.berth.hooks.InvocationRequest;
import dev.berth.hooks.Tensor;
import dev.berth.hooks.UnsupportedMediaTypeException;
import dev.berth.memory.RequestMemory;
import java.util.Arrays;
import java.util.List;

/// The inputs of a model, for which a record has a tensor each, without a batch dimension.
///
/// @param names in the order of the tensors; empty: there is one input, of any name
/// @param types what the elements of each become; empty: unknown
public record TensorInputs(List<String> names, List<ElementType> types) {

  public TensorInputs {
    names = List.copyOf(names);
    types = List.copyOf(types);
  }

  /// Whether the only input can have any name and type.
  boolean isAny() {
    return names.isEmpty();
  }

  /// The type of the numbers of an input: float32 where the model names none.
  public ElementType type(int input) {
    return types.isEmpty() ? ElementType.FLOAT32 : types.get(input);
  }

  /// Converts an array that has a type of its own. It keeps it where the model names none, but for
  /// NumPy's float64, which few models take.
  ///
  /// @throws BadInputException when elements would change
  Tensor converted(Tensor tensor, int input, String name) {
    var kept = tensor.type() == ElementType.FLOAT64 ? ElementType.FLOAT32 : tensor.type();
    var type = types.isEmpty() ? kept : types.get(input);
    if (type == tensor.type()) {
      return tensor;
    }
    RequestMemory.charge((long) (type.bytes() + Long.BYTES) * tensor.size());
    if (!type.isFloating()
        && (tensor.type().isFloating() || !Arrays.stream(tensor.longs()).allMatch(type::holds))) {
      throw new BadInputException(
          "%s: found %s, expected elements of type %s and within its range"
              .formatted(name, tensor, type));
    }
    return tensor.as(type);
  }

  /// @throws BadInputException when these are not the names of the inputs, in any order
  void checkNames(List<String> found, String name) {
    if (isAny() || found.size() != names.size() || !found.containsAll(names)) {
      throw new BadInputException(
          "%s: found the names %s, expected %s"
              .formatted(name, Excerpt.quoted(String.join(", ", found)), isAny() ? "one" : names));
    }
  }

  /// @throws UnsupportedMediaTypeException when there are several inputs, and the request's type
  ///   does not name them
  void checkOne(InvocationRequest request) {
    if (names.size() > 1) {
      throw new UnsupportedMediaTypeException(
          "Content-Type: found %s, expected a type that names the model's inputs %s, such as application/json"
              .formatted(request.contentType().withoutParameters(), names));
    }
  }
}
