package dev.berth.image;

import java.io.BufferedOutputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.zip.CRC32;
import java.util.zip.DeflaterOutputStream;

/// Files of few bytes that are much work to decode.
final class HostileImages {

    /// A JPEG's table of codes that can't be.
    static final byte[] NO_CODES = HexFormat.of().parseHex("ffc40013" + "ff".repeat(17));

    private HostileImages() {}

    /// In colour, with scans that look at every coefficient again.
    ///
    /// @param scans the first is of brightness and colours, all others of more detail in one of them
    /// @param last behind them
    static byte[] progressiveJpeg(int width, int height, int scans, byte... last) {
        var file = new ByteArrayOutputStream();
        write(file, 0xff, 0xd8, 0xff, 0xdb, 0, 67, 0);
        var ones = new byte[64];
        Arrays.fill(ones, (byte) 1);
        file.writeBytes(ones);
        write(file, 0xff, 0xc2, 0, 17, 8, height >> 8, height, width >> 8, width, 3);
        write(file, 1, 0x11, 0, 2, 0x11, 0, 3, 0x11, 0);
        // The code 0 is no difference in brightness, and a run of at least 16384 blocks without
        // anything else.
        huffmanTable(file, 0x00, 0x00);
        huffmanTable(file, 0x10, 0xe0);
        scan(file, new int[] {1, 2, 3}, 0, 0, 0);
        for (int i = 1; i < scans; i++) {
            // Twice as fine as the one before; libjpeg only warns where that can't be.
            scan(file, new int[] {1 + i % 3}, 1, 63, 0x10);
        }
        file.writeBytes(last);
        write(file, 0xff, 0xd9);
        return file.toByteArray();
    }

    private static void huffmanTable(ByteArrayOutputStream file, int identifier, int symbol) {
        write(file, 0xff, 0xc4, 0, 20, identifier, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, symbol);
    }

    /// Its data end at once; libjpeg takes zeros for the rest.
    private static void scan(ByteArrayOutputStream file, int[] components, int from, int to, int bits) {
        write(file, 0xff, 0xda, 0, 6 + 2 * components.length, components.length);
        for (int component : components) {
            write(file, component, 0);
        }
        write(file, from, to, bits, 0);
    }

    /// A frame on a screen.
    ///
    /// @param data the bits of a number, and blocks of codes. Pixels that they lack are zeros
    static byte[] gif(int screenWidth, int screenHeight, int width, int height, int... data) {
        var file = ByteBuffer.allocate(13 + 10 + data.length + 1).order(ByteOrder.LITTLE_ENDIAN);
        file.put(ascii("GIF89a")).putShort((short) screenWidth).putShort((short) screenHeight);
        file.put(new byte[3]).put((byte) ',').putInt(0).putShort((short) width).putShort((short) height);
        file.put((byte) 0);
        for (int value : data) {
            file.put((byte) value);
        }
        return file.put((byte) ';').array();
    }

    /// A frame without a code.
    static byte[] gif(int width, int height) {
        return gif(width, height, width, height, 8, 0);
    }

    /// Zeroes throughout, of red, green and blue.
    ///
    /// @param lastFilter of the last row: from 0 to 4, or one that can't be
    static byte[] png(int width, int height, int bits, int lastFilter) {
        var file = new ByteArrayOutputStream();
        file.writeBytes(new byte[] {(byte) 0x89, 'P', 'N', 'G', '\r', '\n', 0x1a, '\n'});
        var header = ByteBuffer.allocate(13).putInt(width).putInt(height).put((byte) bits);
        chunk(file, "IHDR", header.put((byte) 2).array());
        var data = new ByteArrayOutputStream();
        try (var rows = new BufferedOutputStream(new DeflaterOutputStream(data), 1 << 16)) {
            var row = new byte[1 + 3 * width * bits / 8];
            for (int y = 0; y < height; y++) {
                row[0] = (byte) (y == height - 1 ? lastFilter : 0);
                rows.write(row);
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

    static byte[] ascii(String text) {
        return text.getBytes(StandardCharsets.ISO_8859_1);
    }

    private static void write(ByteArrayOutputStream file, int... bytes) {
        for (int value : bytes) {
            file.write(value);
        }
    }
}
