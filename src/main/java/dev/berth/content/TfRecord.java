package dev.berth.content;

import dev.berth.hooks.BadInputException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.List;
import java.util.zip.CRC32C;

/// TensorFlow's TFRecord, the framing of SageMaker's `SplitType=TFRecord`.
///
/// A record is its length (8 bytes), a checksum of these 8 bytes, its bytes, and a checksum of
/// them; numbers are little-endian. Checksums are CRC-32C, turned and shifted so that data which
/// hold such checksums are no trouble (TensorFlow, tfrecord.md).
public final class TfRecord {

  static final int HEADER_BYTES = Long.BYTES + Integer.BYTES;
  static final int FRAME_BYTES = HEADER_BYTES + Integer.BYTES;

  /// So much that it still is one array with its frame.
  static final int MAX_RECORD_BYTES = Integer.MAX_VALUE - 2 * FRAME_BYTES;

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
    return Framing.TF_RECORD.records(body);
  }

  /// Framed records, as TensorFlow writes them.
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
    return ByteBuffer.wrap(body).order(ByteOrder.LITTLE_ENDIAN).getInt(Long.BYTES)
        == checksum(body, 0, Long.BYTES);
  }

  private static int framedBytes(byte[] record) {
    return Math.addExact(record.length, FRAME_BYTES);
  }

  static int checksum(byte[] bytes, int start, int length) {
    var checksum = new CRC32C();
    checksum.update(bytes, start, length);
    return Integer.rotateRight((int) checksum.getValue(), CHECKSUM_ROTATION) + CHECKSUM_OFFSET;
  }
}
