package dev.berth.artifact;

import java.nio.file.Path;
import java.util.Comparator;
import java.util.List;

/// The shapes `[batch, sequence]` that a traced model takes.
public sealed interface Shapes {

    /// Any batch and any sequence up to the model's longest.
    record Dynamic(Path file) implements Shapes {}

    /// One file for each compiled shape, the shortest sequence first. Inputs are padded to a shape
    /// and the outputs cut.
    record Compiled(List<Shape> shapes) implements Shapes {
        public Compiled {
            shapes = shapes.stream()
                    .sorted(Comparator.comparingInt(Shape::sequence).thenComparingInt(Shape::batch))
                    .toList();
        }
    }

    /// One compiled shape.
    ///
    /// @param batch sequences at once
    /// @param sequence tokens in each
    record Shape(Path file, int batch, int sequence) {}
}
