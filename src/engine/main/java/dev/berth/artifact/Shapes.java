package dev.berth.artifact;

import java.nio.file.Path;
import java.util.Comparator;
import java.util.List;
import java.util.function.ToIntFunction;
import java.util.stream.IntStream;

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

    /// The files of a traced model and what each takes.
    ///
    /// @param longest the tokens of the longest row
    /// @param sequence reads how many tokens a row of a compiled file has
    public static Shapes read(ModelJson json, Target target, int longest, ToIntFunction<ModelJson> sequence) {
        boolean isCompiled =
                json.choice("shapes", List.of("dynamic", "compiled")).equals("compiled");
        var files = json.files().stream()
                .map(file -> isCompiled
                        ? new Shape(file.file(), file.integer("batch"), sequence.applyAsInt(file))
                        : new Shape(file.file(), Integer.MAX_VALUE, longest))
                .toList();
        if (!isCompiled && files.size() > 1) {
            json.problem("files: found %d, expected one that takes every shape".formatted(files.size()));
        }
        if (!isCompiled && target.isNeuron()) {
            json.part("shapes").wrong("\"compiled\" for " + target);
        }
        return new Shapes(!isCompiled, files);
    }

    /// The place of the file that rows of up to `length` tokens go through: of those with room for them
    /// the one of the shortest row, and then of the smallest batch.
    public int fitting(int rows, int length) {
        return IntStream.range(0, files.size())
                .filter(i -> files.get(i).sequence >= length && files.get(i).batch >= rows)
                .findFirst()
                .orElseThrow(() -> new IllegalArgumentException("%d rows of %d tokens, and the longest shape takes %d"
                        .formatted(rows, length, files.getLast().sequence)));
    }

    /// How many rows of up to `length` tokens go through one file.
    public int rows(int length) {
        int sequence = files.get(fitting(1, length)).sequence;
        return files.stream()
                .filter(file -> file.sequence == sequence)
                .mapToInt(Shape::batch)
                .max()
                .orElseThrow();
    }
}
