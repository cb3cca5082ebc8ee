package dev.berth.content;

import dev.berth.content.Framing.Frames;
import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Arrays;
import java.util.Optional;

/// Reads the records of [TfRecord] from a stream. Messages name the record, counted from 1, and the
/// offset.
final class TfRecordReader implements RecordReader {

  private final FrameInput input;
  private final Frames frames;
  private final int maxBytes;

  TfRecordReader(InputStream input, Frames frames, int maxBytes) {
    this.input = new FrameInput(input);
    this.frames = frames;
    this.maxBytes = Math.min(maxBytes, TfRecord.MAX_RECORD_BYTES);
  }

  @Override
  public Optional<byte[]> next() throws IOException {
    if (!input.beginRecord()) {
      return Optional.empty();
    }
    long start = input.offset();
    var header =
        input.take(
            TfRecord.HEADER_BYTES, TfRecord.HEADER_BYTES + " for the length and its checksum");
    check(header, Long.BYTES, start, "length");
    long length = ByteBuffer.wrap(header).order(ByteOrder.LITTLE_ENDIAN).getLong();
    int most = frames == Frames.KEPT ? Math.max(0, maxBytes - TfRecord.FRAME_BYTES) : maxBytes;
    if (length < 0 || length > most) {
      throw input.tooLong(start, Long.toUnsignedString(length), most);
    }
    int size = (int) length;
    long dataStart = input.offset();
    var data = input.take(size + Integer.BYTES, size + " and a checksum of 4, as the length says");
    check(data, size, dataStart, "data");
    return Optional.of(frames == Frames.KEPT ? joined(header, data) : Arrays.copyOf(data, size));
  }

  /// Compares the checksum that stands behind some bytes with theirs.
  private void check(byte[] bytes, int length, long offset, String of) {
    int found = ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN).getInt(length);
    int expected = TfRecord.checksum(bytes, 0, length);
    if (found != expected) {
      throw input.bad(
          offset + length,
          "the checksum 0x%08x".formatted(found),
          "0x%08x for the %s before it".formatted(expected, of));
    }
  }

  private static byte[] joined(byte[] header, byte[] data) {
    var record = Arrays.copyOf(header, header.length + data.length);
    System.arraycopy(data, 0, record, header.length, data.length);
    return record;
  }
}
