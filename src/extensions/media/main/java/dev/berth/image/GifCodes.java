package dev.berth.image;

import java.io.IOException;
import java.nio.ByteBuffer;

/// The colours' numbers that the compressed data of a GIF stands for. Used once, by one thread.
///
/// GIF89a, appendix F. A code stands for a single number or for a row of them that was written
/// before, so the table holds places in what has been written.
final class GifCodes {

    private static final int MOST_CODES = 4096;

    private final ByteBuffer in;
    private final byte[] numbers;
    private final int[] starts = new int[MOST_CODES];
    private final int[] lengths = new int[MOST_CODES];
    private final int clear;
    private final int end;
    private int leftInBlock;
    private int pending;
    private int pendingBits;

    /// @param in the width of codes, and blocks with an empty one at the end
    /// @param numbers to be filled; those that are missing stay 0
    GifCodes(ByteBuffer in, byte[] numbers) throws IOException {
        int width = in.get();
        if (width < 1 || width > 8) {
            throw new IOException("GIF codes of %d bits".formatted(width));
        }
        this.in = in;
        this.numbers = numbers;
        this.clear = 1 << width;
        this.end = clear + 1;
    }

    byte[] numbers() throws IOException {
        int bits = bitsOf(end);
        int next = end + 1;
        int before = -1;
        int written = 0;
        while (written < numbers.length) {
            Pixels.stopIfInterrupted();
            int code = read(bits);
            if (code == end) {
                break;
            }
            if (code == clear) {
                bits = bitsOf(end);
                next = end + 1;
                before = -1;
                continue;
            }
            if (before >= 0 && next < MOST_CODES) {
                // What the code before stood for, and one number more: the first of this code.
                starts[next] = before;
                lengths[next] = written - before + 1;
                next++;
                if (next == 1 << bits && next < MOST_CODES) {
                    bits++;
                }
            }
            if (code >= next) {
                throw new IOException("GIF code %d before %d".formatted(code, next));
            }
            before = written;
            written += write(code, written);
        }
        return numbers;
    }

    private static int bitsOf(int value) {
        return Integer.SIZE - Integer.numberOfLeadingZeros(value);
    }

    private int write(int code, int written) {
        if (code < clear) {
            numbers[written] = (byte) code;
            return 1;
        }
        int length = Math.min(lengths[code], numbers.length - written);
        // The last number may be the first that is written here.
        for (int i = 0; i < length; i++) {
            numbers[written + i] = numbers[starts[code] + i];
        }
        return length;
    }

    /// The end where the blocks end without one.
    private int read(int bits) {
        while (pendingBits < bits) {
            if (leftInBlock == 0) {
                leftInBlock = Byte.toUnsignedInt(in.get());
            }
            if (leftInBlock == 0) {
                return end;
            }
            pending |= Byte.toUnsignedInt(in.get()) << pendingBits;
            pendingBits += 8;
            leftInBlock--;
        }
        int code = pending & (1 << bits) - 1;
        pending >>>= bits;
        pendingBits -= bits;
        return code;
    }
}
