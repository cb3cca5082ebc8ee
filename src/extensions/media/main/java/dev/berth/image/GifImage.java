package dev.berth.image;

import dev.berth.hooks.BadInputException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/// The first picture of a GIF file, on the screen that the file declares (GIF89a).
///
/// Decoded here. The JDK's decoder goes on after the last row, as long as the file does: 8 MB that
/// decode to 20 billion pixels of a picture of one. It also fills a table of 4096 codes whenever a
/// file says so, up to four times a byte.
///
/// @param frame where the picture is on the screen
/// @param palette red, green and blue of 256 colours
/// @param background the colour of what the picture leaves free, as Pillow chooses it
/// @param bits of the colours' numbers
/// @param codes what these are packed as, and [#PADDING] bytes more
record GifImage(Frame frame, byte[] palette, int background, int bits, byte[] codes) {

    private record Frame(int left, int top, int width, int height, boolean interlaced) {}

    private static final int SCREEN = 6;
    private static final int TABLE_FLAG = 0x80;
    private static final int INTERLACE_FLAG = 0x40;
    private static final int PALETTE_BYTES = 3 * 256;
    private static final int EXTENSION = 0x21;
    private static final int CONTROL_EXTENSION = 0xf9;
    private static final int CONTROL_BYTES = 4;
    private static final int PICTURE = 0x2c;
    private static final int TRAILER = 0x3b;

    private static final int MOST_CODES = 4096;

    /// A code stands in three bytes, the last ones of which may be behind the end.
    private static final int PADDING = 2;

    /// The first row of each pass of an interlaced picture, and the step to the next.
    private static final int[][] PASSES = {{0, 8}, {4, 8}, {2, 4}, {1, 2}};

    private static final int[][] ONE_PASS = {{0, 1}};

    static EncodedImage of(byte[] bytes) {
        var in = ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN).position(SCREEN);
        int screenWidth = Short.toUnsignedInt(in.getShort());
        int screenHeight = Short.toUnsignedInt(in.getShort());
        int flags = in.get();
        // A background colour that nobody heeds, and the shape of pixels.
        in.getShort();
        var palette = palette(in, flags, greys());
        int background = 0;
        int block = in.get();
        while (block != PICTURE) {
            if (block == TRAILER) {
                throw new BadInputException("image: found a GIF without a picture");
            }
            if (block == EXTENSION) {
                boolean isControl = Byte.toUnsignedInt(in.get()) == CONTROL_EXTENSION;
                var data = blocks(in);
                if (isControl && data.length >= CONTROL_BYTES + PADDING) {
                    boolean hasTransparency = (data[0] & 1) != 0;
                    background = hasTransparency ? Byte.toUnsignedInt(data[3]) : 0;
                }
            }
            block = in.get();
        }
        int left = Short.toUnsignedInt(in.getShort());
        int top = Short.toUnsignedInt(in.getShort());
        int width = Short.toUnsignedInt(in.getShort());
        int height = Short.toUnsignedInt(in.getShort());
        flags = in.get();
        var frame = new Frame(left, top, width, height, (flags & INTERLACE_FLAG) != 0);
        palette = palette(in, flags, palette);
        int bits = in.get();
        var image = new GifImage(frame, palette, background, bits, blocks(in));
        // A picture that is larger than the screen makes it larger.
        int allWidth = Math.max(screenWidth, left + width);
        int allHeight = Math.max(screenHeight, top + height);
        return new EncodedImage(allWidth, allHeight, Orientation.UPRIGHT, () -> image.decode(allWidth, allHeight));
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

    /// What blocks hold, the last of which is empty, and [#PADDING] bytes more. Room is made once, when
    /// it is known how much.
    private static byte[] blocks(ByteBuffer in) {
        int size = 0;
        var ahead = in.duplicate();
        for (int length = Byte.toUnsignedInt(ahead.get()); length > 0; length = Byte.toUnsignedInt(ahead.get())) {
            if (length > ahead.remaining()) {
                throw EncodedImage.endsEarly("GIF block", ahead.position(), ahead.remaining(), length);
            }
            ahead.position(ahead.position() + length);
            size += length;
        }
        var data = new byte[size + PADDING];
        for (int at = 0, length; at < size; at += length) {
            length = Byte.toUnsignedInt(in.get());
            in.get(data, at, length);
        }
        in.position(ahead.position());
        return data;
    }

    private Pixels decode(int width, int height) throws IOException {
        var numbers = numbers();
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

    /// The colours' numbers; those that are missing are 0. A code stands for a single number or for a
    /// row of them that was written before, so the table holds places in what has been written
    /// (appendix F).
    private byte[] numbers() throws IOException {
        if (bits < 1 || bits > 8) {
            throw new IOException("GIF codes of %d bits".formatted(bits));
        }
        var numbers = new byte[Math.multiplyExact(frame.width, frame.height)];
        var starts = new int[MOST_CODES];
        var lengths = new int[MOST_CODES];
        int clear = 1 << bits;
        int end = clear + 1;
        int next = end + 1;
        int width = bits + 1;
        int before = -1;
        int written = 0;
        long endOfCodes = 8L * (codes.length - PADDING);
        for (long at = 0; written < numbers.length && at + width <= endOfCodes; ) {
            Pixels.stopIfInterrupted();
            int code = code(at, width);
            at += width;
            if (code == end) {
                break;
            }
            if (code == clear) {
                width = bits + 1;
                next = end + 1;
                before = -1;
                continue;
            }
            if (before >= 0 && next < MOST_CODES) {
                // What the code before stood for, and one number more: the first of this code.
                starts[next] = before;
                lengths[next] = written - before + 1;
                next++;
                if (next == 1 << width && next < MOST_CODES) {
                    width++;
                }
            }
            if (code >= next) {
                throw new IOException("GIF code %d before %d".formatted(code, next));
            }
            before = written;
            if (code < clear) {
                numbers[written++] = (byte) code;
            } else {
                // The last number may be the first that is written here.
                int last = Math.min(written + lengths[code], numbers.length);
                for (int from = starts[code]; written < last; ) {
                    numbers[written++] = numbers[from++];
                }
            }
        }
        return numbers;
    }

    private int code(long at, int width) {
        int first = (int) (at >> 3);
        int three = (codes[first] & 0xff) | (codes[first + 1] & 0xff) << 8 | (codes[first + 2] & 0xff) << 16;
        return three >> (at & 7) & (1 << width) - 1;
    }
}
