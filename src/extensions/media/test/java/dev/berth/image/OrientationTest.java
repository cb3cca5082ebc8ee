package dev.berth.image;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Arrays;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class OrientationTest {

    /// A block with a maker and then this entry.
    private static byte[] exif(ByteOrder order, int tag, int type, int value) {
        var block = ByteBuffer.allocate(8 + 2 + 2 * 12 + 4).order(order);
        block.put((byte) (order == ByteOrder.BIG_ENDIAN ? 'M' : 'I'))
                .put(block.get(0))
                .putShort((short) 42)
                .putInt(8);
        block.putShort((short) 2);
        block.putShort((short) 0x010f).putShort((short) 2).putInt(4).put("abc\0".getBytes());
        block.putShort((short) tag).putShort((short) type).putInt(1).putShort((short) value);
        return block.array();
    }

    /// What is no orientation leaves the picture upright.
    @ParameterizedTest
    @CsvSource({
        "274, 3, 1, 1",
        "274, 3, 6, 6",
        "274, 3, 8, 8",
        "274, 3, 0, 1",
        "274, 3, 9, 1",
        "274, 4, 6, 1",
        "275, 3, 6, 1"
    })
    void itIsReadInEitherByteOrder(int tag, int type, int value, int orientation) {
        for (var order : new ByteOrder[] {ByteOrder.BIG_ENDIAN, ByteOrder.LITTLE_ENDIAN}) {
            assertThat(Orientation.of(ByteBuffer.wrap(exif(order, tag, type, value))))
                    .isEqualTo(orientation);
        }
    }

    /// Corners, edges and squares in the middle, which no side is a multiple of.
    @Test
    void everyPixelOfALargePictureIsTurned() {
        var pixels = new byte[150 * 70 * 3];
        new Random(1).nextBytes(pixels);
        var image = new Pixels(150, 70, pixels);
        assertThat(Orientation.turn(Orientation.turn(image, 6), 8).rgb()).isEqualTo(pixels);
        for (int orientation : new int[] {2, 3, 4, 5, 7}) {
            assertThat(Orientation.turn(Orientation.turn(image, orientation), orientation)
                            .rgb())
                    .isEqualTo(pixels);
        }
        var turned = Orientation.turn(image, 6);
        assertThat(turned.width()).isEqualTo(70);
        for (int y = 0; y < 150; y++) {
            for (int x = 0; x < 70; x++) {
                assertThat(turned.rgb()[(y * 70 + x) * 3]).isEqualTo(pixels[((69 - x) * 150 + y) * 3]);
            }
        }
    }

    @Test
    void damageLeavesThePictureUprightToo() {
        var block = exif(ByteOrder.LITTLE_ENDIAN, 274, 3, 6);
        for (int length = 0; length < block.length - 4; length++) {
            assertThat(Orientation.of(ByteBuffer.wrap(Arrays.copyOf(block, length))))
                    .isEqualTo(1);
        }
        for (int at = 0; at < block.length; at++) {
            for (int value : new int[] {0, 1, 127, 128, 255}) {
                var damaged = block.clone();
                damaged[at] = (byte) value;
                assertThat(Orientation.of(ByteBuffer.wrap(damaged))).isBetween(1, 8);
            }
        }
    }
}
