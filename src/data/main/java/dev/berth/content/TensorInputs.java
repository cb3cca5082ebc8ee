package dev.berth.content;

import dev.berth.hooks.BadInputException;
import dev.berth.hooks.ElementType;
import dev.berth.hooks.InvocationRequest;
import dev.berth.hooks.Tensor;
import dev.berth.hooks.UnsupportedMediaTypeException;
import dev.berth.memory.RequestMemory;
import java.util.List;

/// The inputs of a model, for which a record has a tensor each, without a batch dimension.
///
/// @param names in the order of the tensors; empty: there is one input, of any name
/// @param types what the elements of each become, whatever brings them; empty: unknown
/// @param table how the rows of a table are records
public record TensorInputs(List<String> names, List<ElementType> types, TableColumns table) {

    public TensorInputs {
        names = List.copyOf(names);
        types = List.copyOf(types);
    }

    public TensorInputs(List<String> names, List<ElementType> types) {
        this(names, types, TableColumns.UNKNOWN);
    }

    /// Whether the only input can have any name and type.
    boolean isAny() {
        return names.isEmpty();
    }

    /// What numbers without a type are read as: float32 where the model's is not known.
    public ElementType type(int input) {
        return types.isEmpty() ? ElementType.FLOAT32 : types.get(input);
    }

    /// Reads an array that has a type of its own. It keeps it where nobody knows the model's, but for
    /// NumPy's float64, which few models take.
    ///
    /// @throws BadInputException as [#converted]
    Tensor ofArray(Tensor array, int input, String name) {
        return types.isEmpty() && array.type() == ElementType.FLOAT64
                ? array.as(ElementType.FLOAT32)
                : converted(array, input, name);
    }

    /// Makes numbers of any type those that the model takes, as numbers of JSON and CSV are read: a
    /// fraction is rounded to the nearest one that the type has, and whole numbers must be whole and
    /// within its range.
    ///
    /// @param name what messages call the tensor
    /// @return the tensor itself where the model's type is not known
    /// @throws BadInputException naming the element that the type does not hold, or when they are no
    ///   numbers
    public Tensor converted(Tensor tensor, int input, String name) {
        if (input >= types.size() || types.get(input) == tensor.type()) {
            return tensor;
        }
        var type = types.get(input);
        if (type == ElementType.STRING || tensor.type() == ElementType.STRING) {
            throw new BadInputException("%s: found %s, expected %s".formatted(name, tensor, type));
        }
        RequestMemory.charge((type.bytes() + 3L * Long.BYTES) * tensor.size());
        if (!type.isFloating()) {
            requireWhole(tensor, type, name);
        }
        return tensor.as(type);
    }

    private static void requireWhole(Tensor tensor, ElementType type, String name) {
        var numbers = tensor.doubles();
        var wholes = tensor.as(ElementType.INT64).longs();
        for (int i = 0; i < numbers.length; i++) {
            // 2^63 is no long, and becomes the largest one.
            if (wholes[i] != numbers[i] || numbers[i] >= 0x1p63 || !type.holds(wholes[i])) {
                var found = switch (tensor.type()) {
                    case FLOAT64 -> Double.toString(numbers[i]);
                    case FLOAT16, FLOAT32 -> Float.toString((float) numbers[i]);
                    default -> Long.toString(wholes[i]);
                };
                throw new BadInputException("%s%s: found %s, expected a whole number that is %s"
                        .formatted(name, place(i, tensor.shape()), found, type));
            }
        }
    }

    /// Where an element stands, as JSON's lists count.
    private static String place(int index, int[] shape) {
        var place = new StringBuilder();
        for (int i = shape.length - 1, rest = index; i >= 0; rest /= shape[i--]) {
            place.insert(0, "[%d]".formatted(rest % shape[i]));
        }
        return place.toString();
    }

    /// @throws BadInputException when these are not the names of the inputs, in any order
    void checkNames(List<String> found, String name) {
        if (isAny()) {
            throw new BadInputException("%s: found the names %s, expected one".formatted(name, Excerpt.list(found)));
        }
        TableColumns.checkNames(found, names, name);
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
