package dev.berth.image;

import dev.berth.hooks.BadInputException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/// The first picture of a GIF file, on the screen that the file declares.
///
/// Decoded here. The JDK's decoder goes on after the last row, as long as the file does: 8 MB that
/// decode to 20 billion pixels of a picture of one. It also fills a table of 4096 codes whenever a
/// file says so, up to four times a byte.
///
/// @param frame where the picture is on the screen
/// @param palette red, green and blue of 256 colours
/// @param background the colour of what the picture leaves free, as Pillow chooses it
/// @param data the width of codes, and the blocks that hold them
record GifImage(int width, int height, Frame frame, byte[] palette, int background, ByteBuffer data) {

    record Frame(int left, int top, int width, int height, boolean interlaced) {}

    private static final int SCREEN = 6;
    private static final int TABLE_FLAG = 0x80;
    private static final int INTERLACE_FLAG = 0x40;
    private static final int PALETTE_BYTES = 3 * 256;
    private static final int EXTENSION = 0x21;
    private static final int CONTROL_EXTENSION = 0xf9;
    private static final int PICTURE = 0x2c;
    private static final int TRAILER = 0x3b;

    /// The first row of each pass of an interlaced picture, and the step to the next.
    private static final int[][] PASSES = {{0, 8}, {4, 8}, {2, 4}, {1, 2}};

    private static final int[][] ONE_PASS = {{0, 1}};

    static EncodedImage of(byte[] bytes) {
        var in = ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN);
        in.position(SCREEN);
        int screenWidth = Short.toUnsignedInt(in.getShort());
        int screenHeight = Short.toUnsignedInt(in.getShort());
        int flags = in.get();
        // A background colour that nobody heeds, and the shape of pixels.
        in.getShort();
        var palette = palette(in, flags, greys());
        int background = 0;
        while (true) {
            int block = Byte.toUnsignedInt(in.get());
            if (block == PICTURE) {
                var image = picture(in, screenWidth, screenHeight, palette, background);
                return new EncodedImage(image.width, image.height, Orientation.UPRIGHT, image::decode);
            }
            if (block == TRAILER) {
                throw new BadInputException("image: found a GIF without a picture");
            }
            if (block == EXTENSION && Byte.toUnsignedInt(in.get()) == CONTROL_EXTENSION) {
                boolean hasTransparency = (in.get(in.position() + 1) & 1) != 0;
                background = hasTransparency ? Byte.toUnsignedInt(in.get(in.position() + 4)) : 0;
            }
            if (block == EXTENSION) {
                skipBlocks(in);
            }
        }
    }

    private static GifImage picture(ByteBuffer in, int screenWidth, int screenHeight, byte[] palette, int background) {
        int left = Short.toUnsignedInt(in.getShort());
        int top = Short.toUnsignedInt(in.getShort());
        int width = Short.toUnsignedInt(in.getShort());
        int height = Short.toUnsignedInt(in.getShort());
        int flags = in.get();
        var frame = new Frame(left, top, width, height, (flags & INTERLACE_FLAG) != 0);
        var colours = palette(in, flags, palette);
        int data = in.position();
        // The first byte is the width of codes.
        in.get();
        skipBlocks(in);

        // A picture that is larger than the screen makes it larger.
        return new GifImage(
                Math.max(screenWidth, left + width),
                Math.max(screenHeight, top + height),
                frame,
                colours,
                background,
                in.slice(data, in.position() - data));
    }

    /// The table that follows, if one does; black beyond its end.
    private static byte[] palette(ByteBuffer in, int flags, byte[] otherwise) {
        if ((flags & TABLE_FLAG) == 0) {
            return otherwise;
        }
        var palette = new byte[PALETTE_BYTES];
        in.get(palette, 0, 3 << ((flags & 7) + 1));
        return palette;
    }

    private static byte[] greys() {
        var palette = new byte[PALETTE_BYTES];
        for (int i = 0; i < PALETTE_BYTES; i++) {
            palette[i] = (byte) (i / 3);
        }
        return palette;
    }

    private static void skipBlocks(ByteBuffer in) {
        int length = Byte.toUnsignedInt(in.get());
        while (length > 0) {
            if (length > in.remaining()) {
                throw EncodedImage.endsEarly("GIF block", in.position(), in.remaining(), length);
            }
            in.position(in.position() + length);
            length = Byte.toUnsignedInt(in.get());
        }
    }

    private Pixels decode() throws IOException {
        var numbers = new GifCodes(data.slice(), new byte[Math.multiplyExact(frame.width, frame.height)]).numbers();
        var pixels = new byte[Math.multiplyExact(Math.multiplyExact(width, height), 3)];
        fill(pixels, background);
        int from = 0;
        for (var pass : frame.interlaced ? PASSES : ONE_PASS) {
            for (int y = pass[0]; y < frame.height; y += pass[1]) {
                Pixels.stopIfInterrupted();
                int to = ((frame.top + y) * width + frame.left) * 3;
                for (int x = 0; x < frame.width; x++, to += 3) {
                    int colour = Byte.toUnsignedInt(numbers[from++]) * 3;
                    pixels[to] = palette[colour];
                    pixels[to + 1] = palette[colour + 1];
                    pixels[to + 2] = palette[colour + 2];
                }
            }
        }
        return new Pixels(width, height, pixels);
    }

    private void fill(byte[] pixels, int colour) {
        System.arraycopy(palette, colour * 3, pixels, 0, 3);
        for (long done = 3; done < pixels.length; done *= 2) {
            System.arraycopy(pixels, 0, pixels, (int) done, (int) Math.min(done, pixels.length - done));
        }
    }
}
