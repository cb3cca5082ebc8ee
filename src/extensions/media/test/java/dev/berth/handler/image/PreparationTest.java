package dev.berth.handler.image;

import static org.assertj.core.api.Assertions.assertThat;

import dev.berth.hooks.Tensor;
import dev.berth.image.Filter;
import dev.berth.image.Image;
import dev.berth.image.Pillow;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

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

    @ParameterizedTest
    @EnumSource(Pillow.class)
    void aPictureIsResizedAsByThePillowThatTheArtifactNames(Pillow pillow) {
        assertThat(prepared(new Preparation.Size(32, 32), pillow)).isEqualTo(resized(32, 32, pillow));
        assertThat(prepared(new Preparation.ShorterSide(5), pillow)).isEqualTo(resized(5, 142, pillow));
        assertThat(resized(32, 32, Pillow.OLD)).isNotEqualTo(resized(32, 32, Pillow.NEWEST));
    }

    private Tensor prepared(Preparation.Resize resize, Pillow pillow) {
        return new Preparation(
                        Optional.of(resize),
                        Filter.BILINEAR,
                        pillow,
                        Optional.empty(),
                        new Preparation.Numbers(1 / 255.0, List.of(0.0, 0.0, 0.0), List.of(1.0, 1.0, 1.0), false))
                .pixels(picture.png());
    }

    private Tensor resized(int width, int height, Pillow version) {
        return picture.resize(width, height, Filter.BILINEAR, version).rgb(MEAN, DEVIATION);
    }
}
