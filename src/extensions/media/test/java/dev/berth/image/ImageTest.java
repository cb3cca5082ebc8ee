package dev.berth.image;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import dev.berth.hooks.ElementType;
import dev.berth.hooks.Tensor;
import dev.berth.testing.Gzipped;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;

/// Pictures of every kind beside what Pillow makes of them; `make_images.py` there made both.
class ImageTest {

    private static final Path IMAGES = Path.of("src/test/resources/images");

    private static final byte[] PIXELS = {0, 1, 2, (byte) 255, (byte) 254, 100, 7, 8, 9, 10, 11, 12};

    static Stream<String> images() throws IOException {
        return names(IMAGES)
                .filter(name -> name.endsWith(".rgb"))
                .map(name -> name.substring(0, name.lastIndexOf('.')));
    }

    private static Stream<String> names(Path directory) throws IOException {
        try (var files = Files.list(directory)) {
            return files.map(file -> file.getFileName().toString()).sorted().toList().stream();
        }
    }

    private static byte[] bytes(String name) throws IOException {
        var packed = IMAGES.resolve(name + ".gz");
        return Files.exists(packed) ? Gzipped.bytes(packed) : Files.readAllBytes(IMAGES.resolve(name));
    }

    private static Image image(String name) throws IOException {
        return Image.read(bytes(name));
    }

    /// Some builds of libjpeg round otherwise.
    private static boolean isLossy(String name) {
        return name.endsWith(".jpg") || name.startsWith("lossy");
    }

    @ParameterizedTest
    @MethodSource("images")
    void itHasThePixelsThatPillowReads(String name) throws Exception {
        var image = image(name);
        var pixels = image.rgb();
        assertThat(pixels.type()).isEqualTo(ElementType.UINT8);
        assertThat(pixels.shape()).containsExactly(image.height(), image.width(), 3);
        var expected = Tensor.ofUnsigned(bytes(name + ".rgb"), pixels.shape());
        if (isLossy(name)) {
            assertClose(pixels.longs(), expected.longs());
        } else {
            assertThat(pixels.longs()).isEqualTo(expected.longs());
        }
    }

    private static void assertClose(long[] found, long[] expected) {
        long sum = 0;
        for (int i = 0; i < expected.length; i++) {
            assertThat(found[i]).as("value %d", i).isBetween(expected[i] - 3, expected[i] + 3);
            sum += Math.abs(found[i] - expected[i]);
        }
        assertThat(sum).isLessThanOrEqualTo(expected.length);
    }

    /// `resized.py` made the digests: each is of one picture by all filters.
    @Test
    void itIsResizedToTheLastBitAsByPillow() throws Exception {
        for (var line : Files.readAllLines(IMAGES.resolve("resized-13.0.0.txt"))) {
            var words = line.split(" ");
            boolean isGrey = words[2].equals("L");
            var picture = noise(Integer.parseInt(words[0]), Integer.parseInt(words[1]), isGrey ? 1 : 3);
            var digest = MessageDigest.getInstance("SHA-256");
            for (var filter : Filter.values()) {
                var resized = picture.resize(Integer.parseInt(words[3]), Integer.parseInt(words[4]), filter);
                var pixels = resized.rgb().data();
                for (int i = 0; i < pixels.remaining(); i += isGrey ? 3 : 1) {
                    digest.update(pixels.get(i));
                }
            }
            assertThat(HexFormat.of().formatHex(digest.digest())).as(line).startsWith(words[5]);
        }
    }

    @Test
    void theUsualFilterIsBilinear() {
        var picture = noise(31, 25, 3);
        assertThat(picture.resize(11, 17).rgb())
                .isEqualTo(picture.resize(11, 17, Filter.BILINEAR).rgb());
    }

    /// The picture of `resized.py`.
    private static Image noise(int width, int height, int channels) {
        var pixels = new byte[width * height * 3];
        long state = 1;
        for (int i = 0; i < pixels.length; i++) {
            if (channels == 3 || i % 3 == 0) {
                state = state * 48271 % Integer.MAX_VALUE;
            }
            pixels[i] = (byte) (state >> 8);
        }
        return new Image(width, height, pixels);
    }

    @Test
    void greyIsBrightnessAsPillowWeighsIt() throws Exception {
        var image = image("rgb.png");
        var grey = image.grey();
        assertThat(grey).isEqualTo(Tensor.ofUnsigned(bytes("rgb.png.grey"), image.height(), image.width()));
        var normalized = image.grey(0.5f, 0.25f);
        assertThat(normalized).hasToString("float32[1, 11, 13]");
        assertThat(normalized.floats()[7]).isEqualTo((grey.longs()[7] / 255f - 0.5f) / 0.25f);
    }

    @Test
    void normalizedPixelsStandColourByColour() {
        var image = new Image(2, 1, new byte[] {(byte) 255, 51, 0, 102, 0, (byte) 204});
        var input = image.rgb(new float[] {0.5f, 0, 0.2f}, new float[] {0.5f, 1, 0.4f});
        assertThat(input)
                .isEqualTo(Tensor.of(
                        new float[] {1, (0.4f - 0.5f) / 0.5f, 0.2f, 0, -0.2f / 0.4f, (0.8f - 0.2f) / 0.4f}, 3, 1, 2));
    }

    @ParameterizedTest
    @CsvSource({"640, 427, 256, 383, 256", "427, 640, 256, 256, 383", "30, 30, 7, 7, 7", "3, 2, 5, 7, 5"})
    void theShorterSideIsMadeAsLongAsAsked(int width, int height, int length, int newWidth, int newHeight) {
        var resized = new Image(width, height, new byte[width * height * 3]).resizeShorterSide(length);
        assertThat(resized.width()).isEqualTo(newWidth);
        assertThat(resized.height()).isEqualTo(newHeight);
    }

    /// As torchvision's `center_crop` does it with pictures of these numbers.
    @ParameterizedTest
    @CsvSource({
        "1 2 3 4 5, 3, 1, 2 3 4",
        "1 2 3 4, 3, 1, 1 2 3",
        "1 2 3 4 5 6, 3, 1, 3 4 5",
        "1 2, 5, 1, 0 1 2 0 0",
        "1 2, 1, 3, 0 1 0"
    })
    void theMiddleIsCutOut(String row, int width, int height, String middle) {
        assertThat(rowOf(row).centerCrop(width, height).grey())
                .isEqualTo(rowOf(middle).grey().reshape(height, width));
    }

    @ParameterizedTest
    @CsvSource({"1, 0, 4, 2 3 0 0", "-2, 0, 3, 0 0 1", "7, 0, 2, 0 0", "0, 5, 2, 0 0"})
    void aPartBeyondThePictureIsBlack(int left, int top, int width, String part) {
        assertThat(rowOf("1 2 3").crop(left, top, width, 1).grey())
                .isEqualTo(rowOf(part).grey());
    }

    private static Image rowOf(String text) {
        var greys = text.split(" ");
        var pixels = new byte[greys.length * 3];
        for (int i = 0; i < pixels.length; i++) {
            pixels[i] = Byte.parseByte(greys[i / 3]);
        }
        return new Image(greys.length, 1, pixels);
    }

    @Test
    void aThinPictureIsResizedWithoutAHugeOneInBetween() {
        int length = 2_000_000;
        var pixels = new byte[length * 3];
        for (int i = 0; i < pixels.length; i++) {
            pixels[i] = (byte) (i < pixels.length / 2 ? 40 : 200);
        }
        var down = new Image(1, length, pixels).resize(100, 4).grey().unstack();
        assertThat(down.getFirst().longs()).containsOnly(40);
        assertThat(down.getLast().longs()).containsOnly(200);
        var less = new Image(
                1, 100_000, Arrays.copyOfRange(pixels, pixels.length / 2 - 150_000, pixels.length / 2 + 150_000));
        var small = less.resize(224, 4).grey().unstack();
        assertThat(small.getFirst().longs()).containsOnly(40);
        assertThat(small.getLast().longs()).containsOnly(200);
        var across = new Image(length, 1, pixels).resize(4, 100).grey().unstack();
        assertThat(across.getFirst()).isEqualTo(across.getLast());
        assertThat(across.getFirst().longs()).startsWith(40).endsWith(200);
    }

    @Test
    void nothingCanBeDoneWithImpossibleSizes() throws Exception {
        var image = image("rgb.png");
        assertThatThrownBy(() -> image.resize(0, 5))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage("found the size 0 x 5, expected lengths from 1");
        assertThatThrownBy(() -> image.resizeShorterSide(0)).isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> image.centerCrop(5, -1)).isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> image.rgb(new float[1], new float[3]))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage("found 1 means and 3 standard deviations, expected 3 of each");
    }

    /// What hooks make of tensors, read again.
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
