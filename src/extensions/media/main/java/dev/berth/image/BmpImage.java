package dev.berth.image;

import dev.berth.hooks.BadInputException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/// A Windows bitmap: 1 to 32 bits a pixel, with or without a palette, run lengths or bit fields.
final class BmpImage {

    private static final JdkDecoder DECODER = new JdkDecoder("bmp");

    private static final int HEADER = 14;
    private static final int OLD_HEADER_BYTES = 12;

    /// The first header in which a colour space, and so a profile, may be named.
    private static final int COLOUR_SPACE_HEADER_BYTES = 108;

    private static final int COLOUR_SPACE = HEADER + 56;
    private static final int SRGB = 0x73524742;

    /// 4 and 5 wrap a JPEG and a PNG, for printers.
    private static final int MOST_COMPRESSION = 3;

    private BmpImage() {}

    static EncodedImage of(byte[] bytes) {
        var in = ByteBuffer.wrap(bytes.clone()).order(ByteOrder.LITTLE_ENDIAN);
        int headerBytes = in.getInt(HEADER);
        if (headerBytes == OLD_HEADER_BYTES) {
            return image(in.getShort(HEADER + 4), in.getShort(HEADER + 6), in.array());
        }
        int width = in.getInt(HEADER + 4);
        int height = in.getInt(HEADER + 8);
        int compression = in.getInt(HEADER + 16);
        if (compression < 0 || compression > MOST_COMPRESSION) {
            throw new BadInputException("image: BMP header: found the compression %d, expected 0 to %d"
                    .formatted(Integer.toUnsignedLong(compression), MOST_COMPRESSION));
        }
        // Without a reference to a colour profile.
        if (headerBytes >= COLOUR_SPACE_HEADER_BYTES) {
            in.putInt(COLOUR_SPACE, SRGB);
        }
        // A negative height says that the top row comes first.
        return image(width, Math.abs(height), in.array());
    }

    private static EncodedImage image(int width, int height, byte[] file) {
        return new EncodedImage(width, height, Orientation.UPRIGHT, () -> DECODER.rgb(file));
    }
}
