package dev.berth.handler.image;

import dev.berth.hooks.BadInputException;
import dev.berth.hooks.Tensor;
import dev.berth.image.Filter;
import dev.berth.image.Image;
import java.util.List;
import java.util.Optional;

/// From the bytes of a picture to what a model takes, as the image processors of `transformers` do
/// it with Pillow, in this order: another size, its middle, numbers. Safe for use by many threads.
///
/// @param resize empty: it keeps its size
/// @param crop the size of the middle; empty: the whole picture
record Preparation(Optional<Resize> resize, Filter filter, Optional<Size> crop, Numbers numbers) {

    /// What becomes of a value from 0 to 255: `(value * scale - mean) / deviation`.
    ///
    /// @param mean of red, green and blue
    /// @param deviation of red, green and blue
    /// @param blueFirst whether the model takes blue, green and red
    record Numbers(double scale, List<Double> mean, List<Double> deviation, boolean blueFirst) {

        /// The same for values from 0 to 1, which `Image.rgb` makes.
        private float[] scaled(List<Double> numbers) {
            var scaled = new float[3];
            for (int i = 0; i < 3; i++) {
                scaled[i] = (float) (numbers.get(i) / (scale * 255));
            }
            return scaled;
        }

        private Tensor of(Image image) {
            var pixels = image.rgb(scaled(mean), scaled(deviation));
            return blueFirst ? Tensor.stack(pixels.unstack().reversed()) : pixels;
        }
    }

    /// The size that a picture is made.
    sealed interface Resize {}

    /// Its shape is kept.
    record ShorterSide(int length) implements Resize {}

    /// Whatever its shape was.
    record Size(int height, int width) implements Resize {}

    /// The size of what the model gets.
    Size size() {
        return crop.orElseGet(() -> switch (resize.orElseThrow()) {
            case Size size -> size;
            case ShorterSide(int length) -> new Size(length, length);
        });
    }

    /// float32 `[3, height, width]`.
    ///
    /// @throws BadInputException for what is no picture
    Tensor pixels(byte[] picture) {
        return numbers.of(cropped(resized(Image.read(picture))));
    }

    private Image resized(Image image) {
        return resize.map(to -> switch (to) {
                    case ShorterSide(int length) -> image.resizeShorterSide(length, filter);
                    case Size(int height, int width) -> image.resize(width, height, filter);
                })
                .orElse(image);
    }

    /// The processors round down where a picture can't be cut evenly, and torchvision, which
    /// `Image.centerCrop` follows, does not.
    private Image cropped(Image image) {
        return crop.map(to -> image.crop(
                        Math.floorDiv(image.width() - to.width(), 2), Math.floorDiv(image.height() - to.height(), 2),
                        to.width(), to.height()))
                .orElse(image);
    }
}
