package dev.berth.content;

import dev.berth.content.RecordReader.Frames;
import dev.berth.hooks.BadInputException;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.List;

/// MXNet's RecordIO, the framing of SageMaker's `SplitType=RecordIO` and of
/// `application/x-recordio-protobuf`.
///
/// A record is the magic number, a word of a continuation flag (3 bits) and a length (29 bits), the
/// bytes, and zeros up to a multiple of 4; numbers are little-endian. Where a record's bytes hold
/// the magic number themselves, at a multiple of 4, the record is cut there into parts: flag 1 for
/// the first, 2 for those between, 3 for the last. The magic number at the cuts is left out. So a
/// reader may find records from anywhere in a file (dmlc-core, recordio.h).
public final class RecordIo {

    private static final int MAGIC = 0xced7230a;
    private static final int HEADER_BYTES = 8;
    private static final int LENGTH_BITS = 29;
    private static final int MAX_LENGTH = (1 << LENGTH_BITS) - 1;

    private static final int WHOLE = 0;
    private static final int FIRST = 1;
    private static final int BETWEEN = 2;
    private static final int LAST = 3;

    private RecordIo() {}

    /// The records of a request's body, whichever of SageMaker's batch strategies sent it: framed
    /// records (`MultiRecord`), or one bare record (`SingleRecord`) where the body does not begin
    /// with the magic number.
    ///
    /// @param body not copied where it is one bare record
    /// @throws BadInputException naming the record, counted from 1, and the offset
    public static List<byte[]> read(byte[] body) {
        var buffer = ByteBuffer.wrap(body).order(ByteOrder.LITTLE_ENDIAN);
        if (body.length < Integer.BYTES || buffer.getInt(0) != MAGIC) {
            return List.of(body);
        }
        return FrameReader.all(body, RecordIo::record, Integer.MAX_VALUE);
    }

    /// Opens a reader of framed records. The stream is the caller's to close.
    ///
    /// @param maxBytes the bytes that a record can have as it is given
    public static RecordReader open(InputStream input, Frames frames, int maxBytes) {
        return new FrameReader(input, RecordIo::record, frames, maxBytes);
    }

    /// Framed records, as MXNet writes them.
    ///
    /// @throws IllegalArgumentException for a record of 512 MiB or more
    public static byte[] write(List<byte[]> records) {
        var body = new ByteArrayOutputStream();
        for (var record : records) {
            var words = ByteBuffer.wrap(record).order(ByteOrder.LITTLE_ENDIAN);
            int start = 0;
            for (int at = 0; at + Integer.BYTES <= record.length; at += Integer.BYTES) {
                if (words.getInt(at) == MAGIC) {
                    writePart(body, start == 0 ? FIRST : BETWEEN, record, start, at);
                    start = at + Integer.BYTES;
                }
            }
            writePart(body, start == 0 ? WHOLE : LAST, record, start, record.length);
        }
        return body.toByteArray();
    }

    private static void writePart(ByteArrayOutputStream body, int flag, byte[] record, int start, int end) {
        int length = end - start;
        body.writeBytes(words(MAGIC, lengthWord(flag, length)));
        body.write(record, start, length);
        body.writeBytes(new byte[padded(length) - length]);
    }

    static int lengthWord(int flag, int length) {
        if (length > MAX_LENGTH) {
            throw new IllegalArgumentException(
                    "found a record of %d bytes, expected at most %d in RecordIO".formatted(length, MAX_LENGTH));
        }
        return flag << LENGTH_BITS | length;
    }

    private static int padded(int length) {
        return (length + 3) & ~3;
    }

    private static byte[] words(int... values) {
        var words = ByteBuffer.allocate(Integer.BYTES * values.length).order(ByteOrder.LITTLE_ENDIAN);
        words.asIntBuffer().put(values);
        return words.array();
    }

    private static byte[] record(FrameReader in) throws IOException {
        var record = new ByteArrayOutputStream();
        long start = in.offset();
        int flag;
        do {
            long offset = in.offset();
            boolean isFirst = offset == start;
            if (!isFirst) {
                record.writeBytes(words(MAGIC));
            }
            var header = in.take(HEADER_BYTES, HEADER_BYTES + " for the magic number and the length");
            var words = ByteBuffer.wrap(header).order(ByteOrder.LITTLE_ENDIAN);
            int magic = words.getInt();
            if (magic != MAGIC) {
                throw in.bad(offset, "0x%08x".formatted(magic), "the magic number 0x%08x".formatted(MAGIC));
            }
            int word = words.getInt();
            int length = word & MAX_LENGTH;
            int padded = padded(length);
            in.requireFits(offset, (long) record.size() + length, in.offset() - start + padded);
            record.write(in.take(padded, padded + " with the padding, as the length says"), 0, length);
            flag = word >>> LENGTH_BITS;
            if (isFirst ? flag != WHOLE && flag != FIRST : flag != BETWEEN && flag != LAST) {
                throw in.bad(
                        offset,
                        "the continuation flag " + flag,
                        isFirst ? "0 or 1 at the beginning of a record" : "2 or 3 within a record");
            }
        } while (flag == FIRST || flag == BETWEEN);
        return record.toByteArray();
    }
}
