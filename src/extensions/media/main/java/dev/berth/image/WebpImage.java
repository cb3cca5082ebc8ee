package dev.berth.image;

import com.luciad.imageio.webp.WebPImageReaderSpi;
import com.luciad.imageio.webp.WebPReadParam;
import dev.berth.hooks.BadInputException;
import java.awt.image.DataBufferInt;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import javax.imageio.stream.MemoryCacheImageInputStream;

/// A WebP file, lossy or lossless, or the first picture of an animated one.
///
/// Decoded by libwebp, as in Pillow, and so exact. TwelveMonkeys 3.15, which is written in Java, is
/// off by 1 to 3 of 255 on average where a file is lossy, and by up to 80.
///
/// @param frame where the picture is on the canvas of an animation
/// @param chunk the picture, with the chunk's name and length before it; its transparency, which
///   another has, is left out anyway
record WebpImage(int width, int height, Frame frame, ByteBuffer chunk) {

    record Frame(int left, int top, int width, int height) {}

    /// Libwebp is loaded with it: outside of Berth's image, it is first unpacked into `java.io.tmpdir`.
    /// It holds native memory, which is not freed while this is here.
    private static final WebPReadParam DEFAULTS = new WebPReadParam();

    private static final int FILE_HEADER = 12;
    private static final int CHUNK_HEADER = 8;
    private static final int FRAME_HEADER = 16;
    private static final int SHORT_LENGTH = 0x3fff;

    static EncodedImage of(byte[] bytes) {
        var in = ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN);
        int end = end(in, 0, bytes.length);
        int width = 0;
        int height = 0;
        int orientation = Orientation.UPRIGHT;
        int left = 0;
        int top = 0;
        boolean isAnimated = false;
        Frame frame = null;
        ByteBuffer chunk = null;
        for (int at = FILE_HEADER, next; at + CHUNK_HEADER <= end; at = next) {
            int chunkEnd = end(in, at, end);
            int data = at + CHUNK_HEADER;
            next = chunkEnd + (chunkEnd - at) % 2;
            switch (name(in, at)) {
                case "VP8X" -> {
                    width = 1 + threeBytes(in, data + 4);
                    height = 1 + threeBytes(in, data + 7);
                }
                case "EXIF" -> orientation = Orientation.of(in.slice(data, chunkEnd - data));
                case "VP8 ", "VP8L" -> {
                    if (chunk == null) {
                        chunk = in.slice(at, chunkEnd - at);
                        frame = frame(chunk, left, top);
                        width = isAnimated ? width : frame.width;
                        height = isAnimated ? height : frame.height;
                    }
                }
                case "ANMF" -> {
                    left = 2 * threeBytes(in, data);
                    top = 2 * threeBytes(in, data + 3);
                    // The chunks of a frame are read as those of the file. The first one has a picture.
                    next = isAnimated && chunk == null ? end : data + FRAME_HEADER;
                    isAnimated = true;
                }
                default -> {}
            }
        }
        if (chunk == null) {
            throw new BadInputException("image: found a WebP without a picture");
        }
        if (frame.left + frame.width > width || frame.top + frame.height > height) {
            throw new BadInputException(
                    "image: found a WebP frame that leaves its canvas of %d x %d".formatted(width, height));
        }
        var image = new WebpImage(width, height, frame, chunk);
        return new EncodedImage(width, height, orientation, image::decode);
    }

    /// The end of a chunk, without padding. A file is one too.
    private static int end(ByteBuffer in, int at, int limit) {
        long end = at + CHUNK_HEADER + Integer.toUnsignedLong(in.getInt(at + 4));
        if (end > limit) {
            throw EncodedImage.endsEarly("WebP chunk", at, limit - at, end - at);
        }
        return (int) end;
    }

    private static Frame frame(ByteBuffer chunk, int left, int top) {
        var data = chunk.slice(CHUNK_HEADER, chunk.limit() - CHUNK_HEADER).order(ByteOrder.LITTLE_ENDIAN);
        if (name(chunk, 0).equals("VP8L")) {
            int lengths = data.getInt(1);
            return new Frame(left, top, 1 + (lengths & SHORT_LENGTH), 1 + (lengths >> 14 & SHORT_LENGTH));
        }
        return new Frame(left, top, data.getShort(6) & SHORT_LENGTH, data.getShort(8) & SHORT_LENGTH);
    }

    private static String name(ByteBuffer in, int at) {
        var name = new byte[4];
        in.get(at, name);
        return new String(name, StandardCharsets.ISO_8859_1);
    }

    private static int threeBytes(ByteBuffer in, int at) {
        return Short.toUnsignedInt(in.getShort(at)) | Byte.toUnsignedInt(in.get(at + 2)) << 16;
    }

    private Pixels decode() throws IOException {
        var colours = colours();
        var pixels = new byte[width * height * 3];
        int from = 0;
        for (int y = 0; y < frame.height; y++) {
            Pixels.stopIfInterrupted();
            int to = ((frame.top + y) * width + frame.left) * 3;
            for (int x = 0; x < frame.width; x++) {
                int colour = colours[from++];
                pixels[to++] = (byte) (colour >> 16);
                pixels[to++] = (byte) (colour >> 8);
                pixels[to++] = (byte) colour;
            }
        }
        return new Pixels(width, height, pixels);
    }

    private int[] colours() throws IOException {
        int length = chunk.limit();
        var file = ByteBuffer.allocate(FILE_HEADER + length + length % 2).order(ByteOrder.LITTLE_ENDIAN);
        file.put(ascii("RIFF"))
                .putInt(file.limit() - CHUNK_HEADER)
                .put(ascii("WEBP"))
                .put(chunk.slice());
        var reader = new WebPImageReaderSpi().createReaderInstance();
        try (var input = new MemoryCacheImageInputStream(new ByteArrayInputStream(file.array()))) {
            reader.setInput(input, true, true);
            return ((DataBufferInt) reader.read(0, DEFAULTS).getRaster().getDataBuffer()).getData();
        } finally {
            reader.dispose();
        }
    }

    private static byte[] ascii(String text) {
        return text.getBytes(StandardCharsets.US_ASCII);
    }
}
