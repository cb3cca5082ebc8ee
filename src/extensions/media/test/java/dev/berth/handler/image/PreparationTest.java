package dev.berth.handler.image;

import static org.assertj.core.api.Assertions.assertThat;

import dev.berth.artifact.ImagePreparation;
import dev.berth.hooks.Tensor;
import dev.berth.image.Filter;
import dev.berth.image.Image;
import dev.berth.image.Pillow;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import org.junit.jupiter.api.Test;

class PreparationTest {

    private static final float[] MEAN = {0, 0, 0};
    private static final float[] DEVIATION = {1, 1, 1};

    /// Taller than wide, so that versions of Pillow differ.
    private final Image picture = Image.of(Tensor.ofUnsigned(noise(7 * 200 * 3), 200, 7, 3));

    private static byte[] noise(int length) {
        var values = new byte[length];
        new Random(1).nextBytes(values);
        return values;
    }

    @Test
    void aPictureIsResizedAsByThePillowThatTheArtifactNames() {
        var old = prepared(new ImagePreparation.Size(32, 32), Optional.of(12));
        var newest = prepared(new ImagePreparation.Size(32, 32), Optional.empty());
        assertThat(old).isEqualTo(resized(32, 32, Pillow.OLD)).isNotEqualTo(newest);
        assertThat(newest)
                .isEqualTo(resized(32, 32, Pillow.NEWEST))
                .isEqualTo(prepared(new ImagePreparation.Size(32, 32), Optional.of(13)));
        assertThat(prepared(new ImagePreparation.ShorterSide(5), Optional.of(12)))
                .isEqualTo(resized(5, 142, Pillow.OLD))
                .isNotEqualTo(prepared(new ImagePreparation.ShorterSide(5), Optional.empty()));
    }

    private Tensor prepared(ImagePreparation.Resize resize, Optional<Integer> pillow) {
        var steps = new ImagePreparation(
                Optional.of(resize),
                "bilinear",
                pillow,
                Optional.empty(),
                new ImagePreparation.Numbers(1 / 255.0, List.of(0.0, 0.0, 0.0), List.of(1.0, 1.0, 1.0), false));
        return new Preparation(steps).pixels(picture.png());
    }

    private Tensor resized(int width, int height, Pillow version) {
        return picture.resize(width, height, Filter.BILINEAR, version).rgb(MEAN, DEVIATION);
    }
}
