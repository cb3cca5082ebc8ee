package dev.berth.artifact;

import java.util.List;
import java.util.Optional;

/// What becomes of a picture before a model gets it, in this order: another size, its middle,
/// numbers.
///
/// @param resize empty: it keeps its size
/// @param filter how it is resized: `nearest`, `box`, `bilinear`, `hamming`, `bicubic` or
///   `lanczos`, as in Pillow
/// @param pillow the major version of Pillow whose numbers a resize gives; empty: the newest
/// @param crop the size of the middle; empty: the whole picture
public record ImagePreparation(
        Optional<Resize> resize, String filter, Optional<Integer> pillow, Optional<Size> crop, Numbers numbers) {

    /// What becomes of a value from 0 to 255: `(value * scale - mean) / deviation`.
    ///
    /// @param mean of red, green and blue
    /// @param deviation of red, green and blue
    /// @param blueFirst whether the model takes blue, green and red
    public record Numbers(double scale, List<Double> mean, List<Double> deviation, boolean blueFirst) {

        public Numbers {
            mean = List.copyOf(mean);
            deviation = List.copyOf(deviation);
        }
    }

    /// The size that a picture is made.
    public sealed interface Resize {}

    /// Its shape is kept.
    public record ShorterSide(int length) implements Resize {}

    /// Whatever its shape was.
    public record Size(int height, int width) implements Resize {}

    /// The size of what the model gets.
    public Size size() {
        return crop.orElseGet(() -> switch (resize.orElseThrow()) {
            case Size size -> size;
            case ShorterSide(int length) -> new Size(length, length);
        });
    }
}
