package dev.berth.reliability;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.zip.CRC32;
import java.util.zip.DeflaterOutputStream;
import java.util.zip.GZIPOutputStream;

/// Payloads that are small or plain, and a lot of work.
final class Bombs {

    private static final int MEBIBYTE = 1 << 20;

    private Bombs() {}

    static Seeds.Payload json(String text) {
        return Seeds.Payload.of("application/json", text);
    }

    static Seeds.Payload rows(int count) {
        return Seeds.Payload.of("text/csv", "a,b b b b\n".repeat(count));
    }

    static Seeds.Payload question(String question, String context) {
        return json("{\"question\": \"" + question + "\", \"context\": \"" + context + "\"}");
    }

    /// Read through as many windows as there are words, nearly.
    static Seeds.Payload context(int words) {
        return json("{\"inputs\": {\"question\": \"a\", \"context\": \""
                + "b ".repeat(words)
                + "\"}, \"parameters\": {\"max_seq_len\": 20, \"doc_stride\": 1}}");
    }

    /// An object whose 2ⁿ keys have the same hash: `Aa` and `BB` do.
    static String collidingKeys(int pairs) {
        return IntStream.range(0, 1 << pairs)
                .mapToObj(i -> "\""
                        + IntStream.range(0, pairs)
                                .mapToObj(bit -> (i >> bit & 1) == 0 ? "Aa" : "BB")
                                .collect(Collectors.joining())
                        + "\":1")
                .collect(Collectors.joining(",", "{", "}"));
    }

    static byte[] gzip(int unpacked) {
        return gzip(new byte[0], unpacked, (byte) 0);
    }

    /// @param value of the bytes that come after the first ones
    static byte[] gzip(byte[] first, int more, byte value) {
        return packed(first, more, value, bytes -> {
            try {
                return new GZIPOutputStream(bytes);
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        });
    }

    /// The head of a gzip file whose name has not ended yet.
    static byte[] gzipName(int length) {
        var name = new byte[length];
        Arrays.fill(name, (byte) 'a');
        return Seeds.join(hex("1f8b 08 08 00000000 00 ff"), name);
    }

    private static byte[] packed(
            byte[] first, int more, byte value, java.util.function.Function<OutputStream, OutputStream> packer) {
        var bytes = new ByteArrayOutputStream();
        try (var out = packer.apply(bytes)) {
            out.write(first);
            write(out, more, value);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return bytes.toByteArray();
    }

    private static void write(OutputStream out, long count, byte value) throws IOException {
        var bytes = new byte[MEBIBYTE];
        Arrays.fill(bytes, value);
        for (long left = count; left > 0; left -= bytes.length) {
            out.write(bytes, 0, (int) Math.min(left, bytes.length));
        }
    }

    /// An array of pictures that are all black.
    static Seeds.Payload npz(int mebibytes) {
        int rows = mebibytes * (MEBIBYTE / (4 * 28 * 28));
        var bytes = new ByteArrayOutputStream();
        try (var zip = new java.util.zip.ZipOutputStream(bytes)) {
            zip.putNextEntry(new java.util.zip.ZipEntry("x.npy"));
            zip.write(Seeds.npy("'<f4'", "(" + rows + ", 1, 28, 28)", new byte[0]));
            write(zip, rows * 4L * 28 * 28, (byte) 0);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return new Seeds.Payload("application/x-npz", bytes.toByteArray());
    }

    /// An archive whose directory says another size than what it unpacks to.
    static Seeds.Payload lyingNpz(long size) {
        var archive = npz(32).body();
        var buffer = ByteBuffer.wrap(archive).order(ByteOrder.LITTLE_ENDIAN);
        for (int at = 0; at < archive.length - 46; at++) {
            if (buffer.getInt(at) == 0x02014b50) {
                buffer.putInt(at + 24, (int) size);
            } else if (buffer.getInt(at) == 0x04034b50) {
                buffer.putInt(at + 22, (int) size);
            }
        }
        return new Seeds.Payload("application/x-npz", archive);
    }

    /// A progressive JPEG whose scans have no data. The decoder walks through all blocks for each of
    /// them.
    static Seeds.Payload jpegOfScans(int side) {
        var file = new ByteArrayOutputStream();
        file.writeBytes(hex("ffd8 ffdb 0043 00"));
        file.writeBytes("\1".repeat(64).getBytes(java.nio.charset.StandardCharsets.US_ASCII));
        file.writeBytes(hex("ffc2 000b 08 %04x %04x 01 01 11 00".formatted(side, side)));
        // One code for each kind of table: a difference of 0, or the end of a block.
        file.writeBytes(hex("ffc4 0014 00 01 000000000000000000000000000000 00"));
        file.writeBytes(hex("ffc4 0014 10 01 000000000000000000000000000000 00"));
        for (int scan = 0; scan < 100; scan++) {
            file.writeBytes(hex(scan == 0 ? "ffda 0008 01 01 00 00 00 00 00" : "ffda 0008 01 01 00 01 3f 00 00"));
        }
        file.writeBytes(hex("ffd9"));
        return new Seeds.Payload("image/jpeg", file.toByteArray());
    }

    /// A GIF that declares a large picture and has next to no data for it.
    static Seeds.Payload gif(int side) {
        var size = ByteBuffer.allocate(4)
                .order(ByteOrder.LITTLE_ENDIAN)
                .putShort((short) side)
                .putShort((short) side)
                .array();
        return new Seeds.Payload(
                "image/gif",
                Seeds.join(
                        Seeds.ascii("GIF89a"),
                        size,
                        hex("80 00 00 000000 ffffff 2c 00000000"),
                        size,
                        hex("00 02 02 44 01 00 3b")));
    }

    /// A PNG of one colour.
    static Seeds.Payload png(int side) {
        var header = ByteBuffer.allocate(13)
                .putInt(side)
                .putInt(side)
                .put(hex("01 00 00 00 00"))
                .array();
        return new Seeds.Payload(
                "image/png",
                Seeds.join(
                        hex("89504e470d0a1a0a"),
                        chunk("IHDR", header),
                        chunk("IDAT", packed(new byte[0], side * (side / 8 + 1), (byte) 0, DeflaterOutputStream::new)),
                        chunk("IEND", new byte[0])));
    }

    private static byte[] chunk(String name, byte[] data) {
        var checked = Seeds.join(Seeds.ascii(name), data);
        var crc = new CRC32();
        crc.update(checked);
        return Seeds.join(
                ByteBuffer.allocate(4).putInt(data.length).array(),
                checked,
                ByteBuffer.allocate(4).putInt((int) crc.getValue()).array());
    }

    private static byte[] hex(String digits) {
        return java.util.HexFormat.of().parseHex(digits.replace(" ", ""));
    }

    /// All of those that are pictures.
    static List<Seeds.Payload> pictures(int side) {
        return List.of(jpegOfScans(side), gif(side), png(side));
    }
}
