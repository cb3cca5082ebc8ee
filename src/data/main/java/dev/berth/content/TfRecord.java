package dev.berth.content;

import dev.berth.content.RecordReader.Frames;
import dev.berth.hooks.BadInputException;
import java.io.ByteArrayInputStream;
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
    /// @throws BadInputException naming the record, counted from 1, and the offset
    public static List<byte[]> read(byte[] body) {
        if (body.length < HEADER_BYTES || !isFramed(body)) {
            return List.of(body);
        }
        return new Reader(new ByteArrayInputStream(body), Frames.STRIPPED, Integer.MAX_VALUE).all();
    }

    /// Opens a reader of framed records. The stream is the caller's to close.
    ///
    /// @param maxBytes the bytes that a record can have as it is given
    public static RecordReader open(InputStream input, Frames frames, int maxBytes) {
        return new Reader(input, frames, maxBytes);
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

    private static final class Reader extends FrameReader {

        Reader(InputStream input, Frames frames, int maxBytes) {
            super(input, frames, Math.min(maxBytes, MAX_RECORD_BYTES));
        }

        @Override
        byte[] record() throws IOException {
            long start = offset();
            var header = take(HEADER_BYTES, HEADER_BYTES + " for the length and its checksum");
            check(header, Long.BYTES, start, "length");
            long length = ByteBuffer.wrap(header).order(ByteOrder.LITTLE_ENDIAN).getLong();
            int most = frames == Frames.KEPT ? Math.max(0, maxBytes - FRAME_BYTES) : maxBytes;
            if (length < 0 || length > most) {
                throw tooLong(start, Long.toUnsignedString(length), most);
            }
            int size = (int) length;
            long dataStart = offset();
            var data = take(size + Integer.BYTES, size + " and a checksum of 4, as the length says");
            check(data, size, dataStart, "data");
            return frames == Frames.KEPT
                    ? ByteBuffer.allocate(header.length + data.length)
                            .put(header)
                            .put(data)
                            .array()
                    : Arrays.copyOf(data, size);
        }

        /// Compares the checksum that stands behind some bytes with theirs.
        private void check(byte[] bytes, int length, long offset, String of) {
            int found = ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN).getInt(length);
            int expected = checksum(bytes, 0, length);
            if (found != expected) {
                throw bad(
                        offset + length,
                        "the checksum 0x%08x".formatted(found),
                        "0x%08x for the %s before it".formatted(expected, of));
            }
        }
    }
}
