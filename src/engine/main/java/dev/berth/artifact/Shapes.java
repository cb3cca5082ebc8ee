package dev.berth.artifact;

import java.nio.file.Path;
import java.util.Comparator;
import java.util.List;

/// The shapes that a traced model takes.
///
/// @param isDynamic whether its only file takes any batch, and any row up to the model's longest.
///   Otherwise inputs are padded to the shape of a file, and the outputs cut
/// @param files the shortest row first
public record Shapes(boolean isDynamic, List<Shape> files) {

    /// What one file takes.
    ///
    /// @param batch rows at once; [Integer#MAX_VALUE]: any number
    /// @param sequence the most tokens of a row; 1 for pictures
    public record Shape(Path file, int batch, int sequence) {}

    public Shapes {
        files = files.stream()
                .sorted(Comparator.comparingInt(Shape::sequence).thenComparingInt(Shape::batch))
                .toList();
    }
}
