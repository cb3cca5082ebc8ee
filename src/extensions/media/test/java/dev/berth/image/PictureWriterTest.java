package dev.berth.image;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import dev.berth.hooks.Tensor;
import org.junit.jupiter.api.Test;

/// What hooks make of tensors, read again.
class PictureWriterTest {

    private static final byte[] PIXELS = {0, 1, 2, (byte) 255, (byte) 254, 100, 7, 8, 9, 10, 11, 12};

    @Test
    void aPngHasThePixelsOfTheTensor() {
        var tensor = Tensor.ofUnsigned(PIXELS, 2, 2, 3);
        assertThat(Image.read(Image.of(tensor).png()).rgb()).isEqualTo(tensor);
        var grey = Tensor.ofUnsigned(new byte[] {0, (byte) 200, 3, 4, 5, 6}, 2, 3);
        assertThat(Image.read(Image.of(grey).png()).grey()).isEqualTo(grey);
    }

    @Test
    void floatsFromZeroToOneAreRoundedAndKeptInTheirRange() {
        var colours = Tensor.of(new float[] {0, 1, 0.5f, -1, 2, Float.NaN}, 3, 1, 2);
        assertThat(Image.of(colours).rgb())
                .isEqualTo(Tensor.ofUnsigned(new byte[] {0, (byte) 128, (byte) 255, (byte) 255, 0, 0}, 1, 2, 3));
        assertThat(Image.of(Tensor.of(new float[] {0.2f}, 1, 1, 1)).rgb())
                .isEqualTo(Tensor.ofUnsigned(new byte[] {51, 51, 51}, 1, 1, 3));
    }

    @Test
    void aJpegIsNearThePixels() {
        var grey = new byte[64 * 64];
        for (int i = 0; i < grey.length; i++) {
            grey[i] = (byte) (i % 64 * 2);
        }
        var image = Image.of(Tensor.ofUnsigned(grey, 64, 64));
        var good = image.jpeg(95);
        assertThat(good).startsWith((byte) 0xff, (byte) 0xd8);
        assertThat(image.jpeg(10)).hasSizeLessThan(good.length);
        var read = Image.read(good).grey().data();
        for (int i = 0; i < grey.length; i++) {
            assertThat(read.get(i) & 0xff).isCloseTo(grey[i] & 0xff, within(4));
        }
    }

    @Test
    void whatIsNoPictureIsRefused() {
        assertThatThrownBy(() -> Image.of(Tensor.of(new float[8], 2, 2, 2)))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage("found float32 [2, 2, 2], expected uint8 [height, width, 3] or [height, width], or float32 "
                        + "[3, height, width] or [1, height, width]");
        assertThatThrownBy(() -> Image.of(Tensor.of(new double[3], 3, 1, 1)))
                .hasMessageStartingWith("found float64 [3, 1, 1]");
        assertThatThrownBy(() -> Image.of(Tensor.ofUnsigned(new byte[0], 0, 3)))
                .hasMessage("found the size 3 x 0, expected lengths from 1");
        var image = Image.of(Tensor.ofUnsigned(PIXELS, 2, 2, 3));
        assertThatThrownBy(() -> image.jpeg(0)).hasMessage("quality: found 0, expected a number from 1 to 100");
        assertThatThrownBy(() -> image.jpeg(101)).isInstanceOf(IllegalArgumentException.class);
    }
}
