package dev.berth.testing;

import dev.berth.hooks.ElementType;
import dev.berth.hooks.Tensor;
import java.util.List;
import java.util.function.Predicate;
import java.util.stream.Stream;

/// Tensors of numbers in words, for tables.
public final class Tensors {

    private Tensors() {}

    /// @param words of each tensor the type, the shape and the numbers: `FLOAT32 1x3 1 2 3; INT64 1 9`
    public static List<Tensor> of(String words) {
        return Stream.of(words.split("; "))
                .filter(Predicate.not(String::isEmpty))
                .map(Tensors::tensor)
                .toList();
    }

    private static Tensor tensor(String words) {
        var parts = words.split(" ");
        var numbers = Stream.of(parts).skip(2).mapToDouble(Double::parseDouble).toArray();
        var shape = Stream.of(parts[1].split("x")).mapToInt(Integer::parseInt).toArray();
        return Tensor.of(numbers, shape).as(ElementType.valueOf(parts[0]));
    }
}
