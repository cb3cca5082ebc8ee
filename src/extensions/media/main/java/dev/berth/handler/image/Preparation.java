package dev.berth.handler.image;

import dev.berth.artifact.ImagePreparation;
import dev.berth.hooks.BadInputException;
import dev.berth.hooks.Tensor;
import dev.berth.image.Filter;
import dev.berth.image.Image;
import dev.berth.image.Pillow;
import java.util.Locale;

/// From the bytes of a picture to what a model takes, as the image processors of `transformers` do
/// it with Pillow. Safe for use by many threads.
final class Preparation {

    private final ImagePreparation steps;
    private final Filter filter;
    private final Pillow pillow;
    private final float[] mean = new float[3];
    private final float[] deviation = new float[3];

    Preparation(ImagePreparation steps) {
        this.steps = steps;
        this.filter = Filter.valueOf(steps.filter().toUpperCase(Locale.ROOT));
        this.pillow = steps.pillow().filter(major -> major < 13).isPresent() ? Pillow.OLD : Pillow.NEWEST;
        // Of values from 0 to 1, which `Image.rgb` makes.
        var numbers = steps.numbers();
        double scale = numbers.scale() * 255;
        for (int i = 0; i < 3; i++) {
            mean[i] = (float) (numbers.mean().get(i) / scale);
            deviation[i] = (float) (numbers.deviation().get(i) / scale);
        }
    }

    /// float32 `[3, height, width]`.
    ///
    /// @throws BadInputException for what is no picture
    Tensor pixels(byte[] picture) {
        var cropped = cropped(resized(Image.read(picture)));
        return steps.numbers().blueFirst() ? blueFirst(cropped.rgb(mean, deviation)) : cropped.rgb(mean, deviation);
    }

    private Image resized(Image image) {
        return steps.resize()
                .map(resize -> switch (resize) {
                    case ImagePreparation.ShorterSide(int length) -> image.resizeShorterSide(length, filter, pillow);
                    case ImagePreparation.Size(int height, int width) -> image.resize(width, height, filter, pillow);
                })
                .orElse(image);
    }

    /// The processors round down where a picture can't be cut evenly, and torchvision, which
    /// `Image.centerCrop` follows, does not.
    private Image cropped(Image image) {
        return steps.crop()
                .map(crop -> image.crop(
                        Math.floorDiv(image.width() - crop.width(), 2),
                                Math.floorDiv(image.height() - crop.height(), 2),
                        crop.width(), crop.height()))
                .orElse(image);
    }

    private static Tensor blueFirst(Tensor pixels) {
        return Tensor.stack(pixels.unstack().reversed());
    }
}
