package dev.berth.image;

import static dev.berth.image.HostileImages.ascii;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.berth.hooks.BadInputException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.Random;
import java.util.zip.CRC32;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/// Bytes that are no picture, no whole one, or one that is too large: all the caller's fault, and
/// said so.
class DamagedImageTest {

    private static final int FEW_PIXELS = 100_000;

    private static byte[] bytes(String name) throws IOException {
        return Files.readAllBytes(Path.of("src/test/resources/images", name));
    }

    static void assertRefused(byte[] bytes, String message) {
        assertThatThrownBy(() -> Image.read(bytes))
                .isInstanceOf(BadInputException.class)
                .hasMessage("image: " + message);
    }

    private static int indexOf(byte[] bytes, String text) {
        return new String(bytes, StandardCharsets.ISO_8859_1).indexOf(text);
    }

    /// @param text where to count from; nothing: the beginning
    /// @param values other bytes for those from there on
    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
        baseline.jpg  | ÿÀ   | 5  | 0000     | found 13 x 0 pixels, expected at least one
        baseline.jpg  | ÿÀ   | 1  | c9       | offset 160: found lossless or arithmetic JPEG (0xc9), expected baseline or progressive
        baseline.jpg  | ÿÀ   | 4  | 0c       | found a JPEG of 12 bits, expected 8
        baseline.jpg  | ÿÀ   | 9  | 02       | found a JPEG of 2 components, expected 1, 3 or 4
        baseline.jpg  | ÿÀ   | 1  | fe       | found a JPEG without a picture
        rgb.bmp       |      | 18 | 00000000 | found 0 x 11 pixels, expected at least one
        rgb.bmp       |      | 22 | 00000080 | found 13 x -2147483648 pixels, expected at least one
        # The JDK would hand a picture within a bitmap to whatever decoder it finds.
        rgb.bmp       |      | 30 | 04       | BMP header: found the compression 4, expected 0 to 3
        # The division by a red mask of no bits, which the fuzzer found: its name is not handed on.
        16-bits.bmp   |      | 54 | 0000000000f80000e0070000 | found damaged bytes, expected a whole picture
        rgb.png       | IDAT | 10 | 000102   | PNG chunk at offset 83: found bytes that do not match their checksum
        lossless.webp | VP8L | 8  | 00       | found damaged bytes, expected a whole picture
        animated.webp | VP8L | 0  | 58       | found a WebP without a picture
        animated.webp | ANMF | 8  | c8       | found a WebP frame that leaves its canvas of 20 x 15
        """)
    void whatCannotBeIsNamed(String name, String text, int at, String values, String message) throws Exception {
        var bytes = bytes(name);
        var others = HexFormat.of().parseHex(values);
        System.arraycopy(others, 0, bytes, at + (text == null ? 0 : indexOf(bytes, text)), others.length);
        assertRefused(bytes, message);
    }

    @Test
    void whatIsNoPictureIsRefusedWithItsFirstBytes() {
        assertRefused(new byte[0], "found no bytes, expected JPEG, PNG, GIF, BMP or WebP");
        assertRefused(
                ascii("%PDF-1.7 and so on"), "found the text \"%PDF-1.7 and…\", expected JPEG, PNG, GIF, BMP or WebP");
        assertRefused(ascii("a\tb\n"), "found the text \"a b \", expected JPEG, PNG, GIF, BMP or WebP");
        assertRefused(ascii("II*\0"), "found the first bytes 49 49 2a 00, expected JPEG, PNG, GIF, BMP or WebP");
        assertRefused(ascii("GIF89a"), "found 6 bytes that end too early, expected a whole picture");
        assertRefused(ascii("BM"), "found 2 bytes that end too early, expected a whole picture");
        assertRefused(ascii("GIF89a\1\0\1\0\0\0\0;"), "found a GIF without a picture");
        assertRefused(ascii("RIFF\4\0\0\0WEBP"), "found a WebP without a picture");
    }

    @Test
    void aPictureThatIsTooLargeIsNotDecoded() throws Exception {
        var png = bytes("rgb.png");
        ByteBuffer.wrap(png).putInt(16, 20_000).putInt(20, 20_000).putInt(29, checksum(png, 12, 17));
        assertRefused(png, "found 20000 x 20000 pixels, expected at most " + Pixels.MOST);
        assertThatThrownBy(() -> Image.read(bytes("rgb.png"), 142))
                .hasMessage("image: found 13 x 11 pixels, expected at most 142");
        assertThat(Image.read(bytes("rgb.png"), 143).width()).isEqualTo(13);
    }

    @Test
    void aPictureTooThinForItsSizeIsRefused() {
        var thin = new Image(1, 1_000_000, new byte[3_000_000]);
        assertThatThrownBy(() -> thin.resizeShorterSide(256))
                .isInstanceOf(BadInputException.class)
                .hasMessage("image: found 256000000 x 256 pixels, expected at most " + Pixels.MOST);
    }

    @Test
    void halfAFileIsRefused() throws Exception {
        assertRefused(half("baseline.jpg"), "JPEG segment at offset 395: found 12 bytes, expected 31");
        assertRefused(
                Arrays.copyOf(bytes("baseline.jpg"), bytes("baseline.jpg").length - 2),
                "found the end of %d bytes within a JPEG, expected an end marker"
                        .formatted(bytes("baseline.jpg").length - 2));
        assertRefused(half("photo.png"), "PNG chunk at offset 33: found 772 bytes, expected 1565");
        assertRefused(half("still.gif"), "found 479 bytes that end too early, expected a whole picture");
        assertRefused(half("rgb.bmp"), "found damaged bytes, expected a whole picture");
        assertRefused(half("lossy.webp"), "WebP chunk at offset 0: found 88 bytes, expected 176");
    }

    private static byte[] half(String name) throws IOException {
        var bytes = bytes(name);
        return Arrays.copyOf(bytes, bytes.length / 2);
    }

    @Test
    void aJpegHasOneFrameAndFewScans() throws Exception {
        var jpeg = bytes("baseline.jpg");
        int frame = indexOf(jpeg, "ÿÀ");
        var twoFrames = concat(Arrays.copyOf(jpeg, frame + 19), Arrays.copyOfRange(jpeg, frame, jpeg.length));
        assertRefused(twoFrames, "found a JPEG of several frames, expected one");
        int scan = indexOf(jpeg, "ÿÚ");
        var scans = new byte[101][];
        Arrays.fill(scans, Arrays.copyOfRange(jpeg, scan, jpeg.length - 2));
        assertRefused(concat(Arrays.copyOf(jpeg, scan), concat(scans)), "found a JPEG of more than 100 scans");
    }

    /// With the right checksums: otherwise nothing that is wrong with a PNG would reach its decoder.
    /// `DecoderTest` damages all formats.
    @ParameterizedTest
    @Tag("slow")
    @ValueSource(strings = {"palette.png", "rgb-interlaced.png", "orientation-6.png"})
    void aDamagedPngWhoseChecksumsAreRightIsReadOrRefused(String name) throws Exception {
        var bytes = bytes(name);
        var random = new Random(1);
        for (int at = 0; at < bytes.length; at++) {
            try {
                var damaged = bytes.clone();
                damaged[at] = (byte) random.nextInt(256);
                assertThat(Image.read(withChecksums(damaged), FEW_PIXELS).width())
                        .isPositive();
            } catch (BadInputException e) {
                assertThat(e.getMessage()).startsWith("image: ").hasSizeLessThan(160);
            }
        }
    }

    private static byte[] withChecksums(byte[] png) {
        var in = ByteBuffer.wrap(png);
        for (int at = 8, length; at + 12 <= png.length; at += length + 12) {
            length = in.getInt(at);
            if (length < 0 || length > png.length - at - 12) {
                break;
            }
            in.putInt(at + 8 + length, checksum(png, at + 4, length + 4));
        }
        return png;
    }

    private static int checksum(byte[] bytes, int at, int length) {
        var checksum = new CRC32();
        checksum.update(bytes, at, length);
        return (int) checksum.getValue();
    }

    private static byte[] concat(byte[]... parts) {
        var all = ByteBuffer.allocate(
                Arrays.stream(parts).mapToInt(part -> part.length).sum());
        for (var part : parts) {
            all.put(part);
        }
        return all.array();
    }
}
