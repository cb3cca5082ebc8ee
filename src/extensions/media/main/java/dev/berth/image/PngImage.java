package dev.berth.image;

import dev.berth.hooks.BadInputException;
import java.io.ByteArrayOutputStream;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.zip.CRC32;

/// A PNG file of any kind that the specification has.
final class PngImage {

    private static final JdkDecoder DECODER = new JdkDecoder("png");

    private static final int SIGNATURE_BYTES = 8;

    /// In the header, which is always the first chunk.
    private static final int WIDTH = 16;

    private static final int HEIGHT = 20;

    /// The length and the name before a chunk's data, and the checksum after it.
    private static final int AROUND_DATA = 12;

    private static final int BITS = 24;

    /// A pixel of 16 bits takes 100 ns of a core: the JDK's decoder converts them one by one.
    private static final int DEEP_WORK = 15;

    private static final byte[] END = {0, 0, 0, 0, 'I', 'E', 'N', 'D', (byte) 0xae, 0x42, 0x60, (byte) 0x82};

    private PngImage() {}

    static EncodedImage of(byte[] bytes) {
        var in = ByteBuffer.wrap(bytes);
        var kept = new ByteArrayOutputStream(bytes.length);
        kept.write(bytes, 0, SIGNATURE_BYTES);
        int orientation = Orientation.UPRIGHT;
        int at = SIGNATURE_BYTES;
        // Some files lack the last chunk, and nothing of their picture.
        while (at < bytes.length) {
            long length = Integer.toUnsignedLong(in.getInt(at));
            var name = new String(bytes, at + 4, 4, StandardCharsets.ISO_8859_1);
            if (length + AROUND_DATA > bytes.length - at) {
                throw EncodedImage.endsEarly("PNG chunk", at, bytes.length - at, length + AROUND_DATA);
            }
            switch (name) {
                case "IHDR", "PLTE", "IDAT" -> keep(bytes, at, (int) length, kept);
                case "eXIf" -> orientation = Orientation.of(ByteBuffer.wrap(bytes, at + 8, (int) length));
                default -> {}
            }
            if (name.equals("IEND")) {
                break;
            }
            at += (int) length + AROUND_DATA;
        }
        kept.writeBytes(END);
        int width = in.getInt(WIDTH);
        int height = in.getInt(HEIGHT);
        long work = (long) width * height * (in.get(BITS) > 8 ? DEEP_WORK : 1);
        if (work > EncodedImage.MOST_WORK) {
            throw new BadInputException(
                    "image: found a PNG of %d x %d pixels of 16 bits, expected at most %d of so many bits"
                            .formatted(width, height, EncodedImage.MOST_WORK / DEEP_WORK));
        }
        var file = kept.toByteArray();
        return new EncodedImage(width, height, orientation, work, () -> DECODER.rgb(file));
    }

    private static void keep(byte[] bytes, int at, int length, ByteArrayOutputStream kept) {
        var checksum = new CRC32();
        checksum.update(bytes, at + 4, length + 4);
        if ((int) checksum.getValue() != ByteBuffer.wrap(bytes).getInt(at + 8 + length)) {
            throw new BadInputException(
                    "image: PNG chunk at offset %d: found bytes that do not match their checksum".formatted(at));
        }
        kept.write(bytes, at, length + AROUND_DATA);
    }
}
