package dev.berth.content;

import dev.berth.content.RecordReader.Frames;
import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Arrays;
import java.util.List;
import java.util.zip.CRC32C;

/// TensorFlow's TFRecord, the framing of SageMaker's `SplitType=TFRecord`.
///
/// A record is its length (8 bytes), a checksum of these 8 bytes, its bytes, and a checksum of
/// them; numbers are little-endian. Checksums are CRC-32C, turned and shifted so that data which
/// hold such checksums are no trouble (TensorFlow, tfrecord.md).
public final class TfRecord {

    private static final int HEADER_BYTES = Long.BYTES + Integer.BYTES;
    private static final int FRAME_BYTES = HEADER_BYTES + Integer.BYTES;

    /// So much that it still is one array with its frame.
    private static final int MAX_RECORD_BYTES = Integer.MAX_VALUE - 2 * FRAME_BYTES;

    private static final int CHECKSUM_ROTATION = 15;
    private static final int CHECKSUM_OFFSET = 0xa282ead8;

    private TfRecord() {}

    /// The records of a request's body, whichever of SageMaker's batch strategies sent it: framed
    /// records (`MultiRecord`), or one bare record (`SingleRecord`) where the body does not begin
    /// with a length and its checksum.
    ///
    /// @param body not copied where it is one bare record
    /// @throws dev.berth.hooks.BadInputException naming the record, counted from 1, and the offset
    public static List<byte[]> read(byte[] body) {
        if (body.length < HEADER_BYTES || !isFramed(body)) {
            return List.of(body);
        }
        return FrameReader.all(body, TfRecord::record, MAX_RECORD_BYTES);
    }

    /// Opens a reader of framed records. The stream is the caller's to close.
    ///
    /// @param maxBytes the bytes that a record can have as it is given
    public static RecordReader open(InputStream input, Frames frames, int maxBytes) {
        return new FrameReader(input, TfRecord::record, frames, Math.min(maxBytes, MAX_RECORD_BYTES));
    }

    public static byte[] write(List<byte[]> records) {
        int bytes = records.stream().mapToInt(TfRecord::framedBytes).reduce(0, Math::addExact);
        var body = ByteBuffer.allocate(bytes).order(ByteOrder.LITTLE_ENDIAN);
        for (var record : records) {
            int start = body.position();
            body.putLong(record.length);
            body.putInt(checksum(body.array(), start, Long.BYTES));
            body.put(record);
            body.putInt(checksum(record, 0, record.length));
        }
        return body.array();
    }

    private static boolean isFramed(byte[] body) {
        return ByteBuffer.wrap(body).order(ByteOrder.LITTLE_ENDIAN).getInt(Long.BYTES) == checksum(body, 0, Long.BYTES);
    }

    private static int framedBytes(byte[] record) {
        return Math.addExact(record.length, FRAME_BYTES);
    }

    private static int checksum(byte[] bytes, int start, int length) {
        var checksum = new CRC32C();
        checksum.update(bytes, start, length);
        return Integer.rotateRight((int) checksum.getValue(), CHECKSUM_ROTATION) + CHECKSUM_OFFSET;
    }

    private static byte[] record(FrameReader in) throws IOException {
        long start = in.offset();
        var header = in.take(HEADER_BYTES, HEADER_BYTES + " for the length and its checksum");
        check(in, header, start, "length");
        long length = ByteBuffer.wrap(header).order(ByteOrder.LITTLE_ENDIAN).getLong();
        in.requireFits(start, length, length + FRAME_BYTES);
        long dataStart = in.offset();
        var data = in.take((int) length + Integer.BYTES, length + " and a checksum of 4, as the length says");
        check(in, data, dataStart, "data");
        return Arrays.copyOf(data, (int) length);
    }

    /// Compares the checksum at the end of some bytes with that of the others.
    private static void check(FrameReader in, byte[] bytes, long offset, String of) {
        int length = bytes.length - Integer.BYTES;
        int found = ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN).getInt(length);
        int expected = checksum(bytes, 0, length);
        if (found != expected) {
            throw in.bad(
                    offset + length,
                    "the checksum 0x%08x".formatted(found),
                    "0x%08x for the %s before it".formatted(expected, of));
        }
    }
}
