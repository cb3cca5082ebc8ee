package dev.berth.content;

import dev.berth.hooks.BadInputException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.zip.CRC32C;

/// TensorFlow's TFRecord, the framing of SageMaker's `SplitType=TFRecord`.
///
/// A record is its length (8 bytes), a checksum of these 8 bytes, its bytes, and a checksum of them; numbers are
/// little-endian. Checksums are CRC-32C, turned and shifted so that data which hold such checksums are no trouble
/// (TensorFlow, tfrecord.md).
public final class TfRecord {

  private static final int HEADER_BYTES = Long.BYTES + Integer.BYTES;
  private static final int CHECKSUM_ROTATION = 15;
  private static final int CHECKSUM_OFFSET = 0xa282ead8;

  private TfRecord() {}

  /// The records of a request's body, whichever of SageMaker's batch strategies sent it: framed records
  /// (`MultiRecord`), or one bare record (`SingleRecord`) where the body does not begin with a length and its checksum.
  ///
  /// @param body not copied where it is one bare record
  /// @throws BadInputException naming the record, counted from 1, and the offset
  public static List<byte[]> read(byte[] body) {
    if (body.length < HEADER_BYTES || !isFramed(body)) {
      return List.of(body);
    }
    var buffer = ByteBuffer.wrap(body).order(ByteOrder.LITTLE_ENDIAN);
    var records = new ArrayList<byte[]>();
    while (buffer.hasRemaining()) {
      records.add(record(buffer, records.size() + 1));
    }
    return records;
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
    return ByteBuffer.wrap(body).order(ByteOrder.LITTLE_ENDIAN).getInt(Long.BYTES) == checksum(body, 0, Long.BYTES);
  }

  private static int framedBytes(byte[] record) {
    return Math.addExact(record.length, HEADER_BYTES + Integer.BYTES);
  }

  private static byte[] record(ByteBuffer buffer, int number) {
    int offset = buffer.position();
    if (buffer.remaining() < HEADER_BYTES) {
      throw bad(number, offset, buffer.remaining() + " bytes", HEADER_BYTES + " for the length and its checksum");
    }
    long length = buffer.getLong();
    check(buffer, number, "length", offset, Long.BYTES);
    if (length < 0 || length > buffer.remaining() - Integer.BYTES) {
      throw bad(number, offset + HEADER_BYTES, buffer.remaining() + " bytes",
          "%s and a checksum of 4, as the length says".formatted(Long.toUnsignedString(length)));
    }
    int start = buffer.position();
    int end = start + (int) length;
    buffer.position(end);
    check(buffer, number, "data", start, (int) length);
    return Arrays.copyOfRange(buffer.array(), start, end);
  }

  /// Takes the checksum that comes next and compares it with that of the bytes before it.
  private static void check(ByteBuffer buffer, int number, String of, int start, int length) {
    int offset = buffer.position();
    int found = buffer.getInt();
    int expected = checksum(buffer.array(), start, length);
    if (found != expected) {
      throw bad(number, offset,
          "the checksum 0x%08x".formatted(found), "0x%08x for the %s before it".formatted(expected, of));
    }
  }

  private static int checksum(byte[] bytes, int start, int length) {
    var checksum = new CRC32C();
    checksum.update(bytes, start, length);
    return Integer.rotateRight((int) checksum.getValue(), CHECKSUM_ROTATION) + CHECKSUM_OFFSET;
  }

  private static BadInputException bad(int number, int offset, String found, String expected) {
    return new BadInputException(
        "record %d, offset %d: found %s, expected %s".formatted(number, offset, found, expected));
  }
}
