package dev.berth.image;

import java.io.BufferedOutputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.stream.IntStream;
import java.util.zip.CRC32;
import java.util.zip.DeflaterOutputStream;

/// Files of few bytes that are much work to decode.
final class HostileImages {

    /// The first column, the step to the next, the first row, the step to the next.
    private static final int[][] ADAM7 = {
        {0, 8, 0, 8}, {4, 8, 0, 8}, {0, 4, 4, 8}, {2, 4, 0, 4}, {0, 2, 2, 4}, {1, 2, 0, 2}, {0, 1, 1, 2}
    };

    private static final int[][] ONE_PASS = {{0, 1, 0, 1}};

    private HostileImages() {}

    /// In colour, with scans that look at every coefficient again.
    ///
    /// @param scans the first is of brightness and colours, all others of more detail in one of them
    static byte[] progressiveJpeg(int width, int height, int scans) {
        return progressiveJpeg(width, height, scans, new byte[0]);
    }

    /// The same with a table of codes at the end that can't be.
    static byte[] progressiveJpegWithABadEnd(int width, int height, int scans) {
        var table = new byte[21];
        Arrays.fill(table, 4, 21, (byte) 255);
        System.arraycopy(new byte[] {(byte) 0xff, (byte) 0xc4, 0, 19}, 0, table, 0, 4);
        return progressiveJpeg(width, height, scans, table);
    }

    private static byte[] progressiveJpeg(int width, int height, int scans, byte[] last) {
        var file = new ByteArrayOutputStream();
        jpegStart(file, 0xc2, width, height, 3);
        scan(file, new int[] {1, 2, 3}, 0, 0, 0, new byte[1]);
        var skipped = endOfBlockRuns((width + 7) / 8 * ((height + 7) / 8));
        for (int i = 1; i < scans; i++) {
            // Twice as fine as the one before; libjpeg only warns where that can't be.
            scan(file, new int[] {1 + i % 3}, 1, 63, 0x10, skipped);
        }
        file.writeBytes(last);
        return jpegEnd(file);
    }

    /// One scan of no data for each of the components, all of the same size.
    static byte[] baselineJpeg(int width, int height, int components) {
        var file = new ByteArrayOutputStream();
        jpegStart(file, 0xc0, width, height, components);
        scan(file, IntStream.rangeClosed(1, components).toArray(), 0, 63, 0, new byte[1]);
        return jpegEnd(file);
    }

    private static void jpegStart(ByteArrayOutputStream file, int frame, int width, int height, int components) {
        write(file, 0xff, 0xd8, 0xff, 0xdb, 0, 67, 0);
        var ones = new byte[64];
        Arrays.fill(ones, (byte) 1);
        file.writeBytes(ones);
        write(file, 0xff, frame, 0, 8 + 3 * components, 8, height >> 8, height, width >> 8, width, components);
        for (int component = 1; component <= components; component++) {
            write(file, component, 0x11, 0);
        }
        // The code 0 is no difference in brightness, and a run of at least 16384 blocks without
        // anything else.
        huffmanTable(file, 0x00, 0x00);
        huffmanTable(file, 0x10, frame == 0xc2 ? 0xe0 : 0x00);
    }

    private static void huffmanTable(ByteArrayOutputStream file, int identifier, int symbol) {
        write(file, 0xff, 0xc4, 0, 20, identifier, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, symbol);
    }

    private static void scan(ByteArrayOutputStream file, int[] components, int from, int to, int bits, byte[] data) {
        write(file, 0xff, 0xda, 0, 6 + 2 * components.length, components.length);
        for (int component : components) {
            write(file, component, 0);
        }
        write(file, from, to, bits);
        file.writeBytes(data);
    }

    /// The code 0, and 14 bits of which the last is 0: an even number of bytes without a marker among
    /// them.
    private static byte[] endOfBlockRuns(int blocks) {
        var bits = new StringBuilder();
        for (int left = blocks; left > 0; left -= 32766) {
            bits.append("011111111111110");
        }
        bits.append("0".repeat((8 - bits.length() % 8) % 8));
        var data = new ByteArrayOutputStream();
        for (int i = 0; i < bits.length(); i += 8) {
            int value = Integer.parseInt(bits.substring(i, i + 8), 2);
            data.write(value);
            if (value == 0xff) {
                data.write(0);
            }
        }
        return data.toByteArray();
    }

    private static byte[] jpegEnd(ByteArrayOutputStream file) {
        write(file, 0xff, 0xd9);
        return file.toByteArray();
    }

    /// A frame of one pixel on a screen of many.
    static byte[] gifScreen(int width, int height) {
        return gif(width, height, 1, 1, 0, new byte[] {2, 2, 0x44, 1, 0});
    }

    /// A frame of one colour.
    static byte[] gifFrame(int width, int height, boolean interlaced) {
        return gif(width, height, width, height, interlaced ? 0x40 : 0, oneColour((long) width * height));
    }

    /// A frame of one pixel, and codes for more.
    static byte[] gifBeyondItsEnd(long pixels) {
        return gif(1, 1, 1, 1, 0, oneColour(pixels));
    }

    private static byte[] gif(int screenWidth, int screenHeight, int width, int height, int flags, byte[] data) {
        var file = ByteBuffer.allocate(13 + 10 + data.length + 1).order(ByteOrder.LITTLE_ENDIAN);
        file.put(ascii("GIF89a"))
                .putShort((short) screenWidth)
                .putShort((short) screenHeight)
                .put(new byte[3]);
        file.put((byte) ',')
                .putInt(0)
                .putShort((short) width)
                .putShort((short) height)
                .put((byte) flags);
        return file.put(data).put((byte) ';').array();
    }

    /// LZW: each code stands for one pixel more than the one before. After 4096 codes the last may be
    /// repeated.
    private static byte[] oneColour(long pixels) {
        var bits = new BitWriter();
        bits.write(256, 9);
        bits.write(0, 9);
        long left = pixels - 1;
        int next = 258;
        int width = 9;
        while (left > 0) {
            int code = Math.min(next, 4095);
            bits.write(code, width);
            left -= code - 256;
            if (next < 4096) {
                next++;
                width = next == 512 ? 10 : next == 1024 ? 11 : next == 2048 ? 12 : width;
            }
        }
        bits.write(257, width);
        var codes = bits.bytes();
        var data = new ByteArrayOutputStream();
        data.write(8);
        for (int at = 0; at < codes.length; at += 255) {
            int length = Math.min(255, codes.length - at);
            data.write(length);
            data.write(codes, at, length);
        }
        data.write(0);
        return data.toByteArray();
    }

    private static final class BitWriter {

        private final ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        private long pending;
        private int count;

        void write(int value, int bits) {
            pending |= (long) value << count;
            count += bits;
            while (count >= 8) {
                bytes.write((int) pending);
                pending >>= 8;
                count -= 8;
            }
        }

        byte[] bytes() {
            if (count > 0) {
                write(0, 8 - count);
            }
            return bytes.toByteArray();
        }
    }

    /// Zeroes throughout.
    ///
    /// @param type grey, RGB, palette, grey and alpha, RGB and alpha: 0, 2, 3, 4, 6
    /// @param filter of each row, from 0 to 4, which is dearest
    static byte[] png(int width, int height, int bits, int type, int filter, boolean interlaced) {
        return png(width, height, bits, type, filter, filter, interlaced);
    }

    /// Of 16 bits, with a filter in the last row that can't be.
    static byte[] pngWithABadEnd(int width, int height) {
        return png(width, height, 16, 2, 4, 5, true);
    }

    private static byte[] png(
            int width, int height, int bits, int type, int filter, int lastFilter, boolean interlaced) {
        int samples = switch (type) {
            case 2 -> 3;
            case 4 -> 2;
            case 6 -> 4;
            default -> 1;
        };
        var file = new ByteArrayOutputStream();
        file.writeBytes(new byte[] {(byte) 0x89, 'P', 'N', 'G', '\r', '\n', 0x1a, '\n'});
        var header = ByteBuffer.allocate(13).putInt(width).putInt(height);
        header.put(new byte[] {(byte) bits, (byte) type, 0, 0, (byte) (interlaced ? 1 : 0)});
        chunk(file, "IHDR", header.array());
        if (type == 3) {
            chunk(file, "PLTE", new byte[3 << bits]);
        }
        var data = new ByteArrayOutputStream();
        try (var rows = new BufferedOutputStream(new DeflaterOutputStream(data), 1 << 16)) {
            int[][] passes = interlaced ? ADAM7 : ONE_PASS;
            for (int p = 0; p < passes.length; p++) {
                int[] pass = passes[p];
                int passWidth = (width - pass[0] + pass[1] - 1) / pass[1];
                int passHeight = (height - pass[2] + pass[3] - 1) / pass[3];
                var row = new byte[1 + (int) (((long) passWidth * bits * samples + 7) / 8)];
                for (int y = 0; y < passHeight && passWidth > 0; y++) {
                    row[0] = (byte) (p == passes.length - 1 && y == passHeight - 1 ? lastFilter : filter);
                    rows.write(row);
                }
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        chunk(file, "IDAT", data.toByteArray());
        chunk(file, "IEND", new byte[0]);
        return file.toByteArray();
    }

    private static void chunk(ByteArrayOutputStream file, String name, byte[] data) {
        var named =
                ByteBuffer.allocate(4 + data.length).put(ascii(name)).put(data).array();
        var checksum = new CRC32();
        checksum.update(named);
        file.writeBytes(ByteBuffer.allocate(4).putInt(data.length).array());
        file.writeBytes(named);
        file.writeBytes(ByteBuffer.allocate(4).putInt((int) checksum.getValue()).array());
    }

    /// Run lengths of 8 or 4 bits.
    ///
    /// @param data begins after the palette
    static byte[] bmp(int width, int height, int bits, byte... data) {
        int palette = 4 << bits;
        var file = ByteBuffer.allocate(54 + palette + data.length).order(ByteOrder.LITTLE_ENDIAN);
        file.put(ascii("BM")).putInt(file.limit()).putInt(0).putInt(54 + palette);
        file.putInt(40).putInt(width).putInt(height).putShort((short) 1).putShort((short) bits);
        file.putInt(bits == 8 ? 1 : 2).putInt(data.length);
        return file.position(54 + palette).put(data).array();
    }

    /// All pixels are zero and take no bits, before two transforms look at each of them.
    static byte[] losslessWebp(int width, int height) {
        var bits = new BitWriter();
        bits.write(0x2f, 8);
        bits.write(width - 1, 14);
        bits.write(height - 1, 14);
        bits.write(0, 4);
        for (int transform : new int[] {0, 1}) {
            bits.write(1, 1);
            bits.write(transform, 2);
            // Of 512 pixels, and no cache of colours.
            bits.write(7, 3);
            bits.write(0, 1);
            // The dearest of predictors. A code of one symbol, which has 8 bits.
            bits.write(0b101, 3);
            bits.write(13, 8);
            zeroes(bits, 4);
        }
        bits.write(0, 3);
        zeroes(bits, 5);
        return webp("VP8L", bits.bytes());
    }

    /// Prefix codes of the symbol 0 alone.
    private static void zeroes(BitWriter bits, int codes) {
        for (int i = 0; i < codes; i++) {
            bits.write(0b0001, 4);
        }
    }

    /// A key frame whose bits are all 0, which are blocks of 4 x 4 pixels that are predicted one by
    /// one.
    static byte[] lossyWebp(int width, int height) {
        int blocks = (width + 15) / 16 * ((height + 15) / 16);
        int modes = 64 + blocks * 5 / 2;
        var data = ByteBuffer.allocate(10 + modes + blocks + 64).order(ByteOrder.LITTLE_ENDIAN);
        int frame = 1 << 4 | modes << 5;
        data.put((byte) frame).put((byte) (frame >> 8)).put((byte) (frame >> 16));
        data.put(new byte[] {(byte) 0x9d, 1, 0x2a}).putShort((short) width).putShort((short) height);
        return webp("VP8 ", data.array());
    }

    private static byte[] webp(String name, byte[] data) {
        int length = data.length + data.length % 2;
        var file = ByteBuffer.allocate(20 + length).order(ByteOrder.LITTLE_ENDIAN);
        file.put(ascii("RIFF")).putInt(12 + length).put(ascii("WEBP"));
        return file.put(ascii(name)).putInt(data.length).put(data).array();
    }

    private static byte[] ascii(String text) {
        return text.getBytes(StandardCharsets.ISO_8859_1);
    }

    private static void write(ByteArrayOutputStream file, int... bytes) {
        for (int value : bytes) {
            file.write(value);
        }
    }
}
