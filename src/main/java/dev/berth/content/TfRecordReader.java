package dev.berth.content;

import dev.berth.hooks.BadInputException;
import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Arrays;
import java.util.Optional;

/// Reads the records of [TfRecord] from a stream, one after the other: there is never more than one of them in memory.
/// For one thread; the stream is the caller's to close.
public final class TfRecordReader {

  private final FrameInput frames;
  private final Framing framing;
  private final int maxBytes;

  /// @param maxBytes what a record as it is given may have
  public TfRecordReader(InputStream input, Framing framing, int maxBytes) {
    this.frames = new FrameInput(input);
    this.framing = framing;
    this.maxBytes = Math.min(maxBytes, TfRecord.MAX_RECORD_BYTES);
  }

  /// The next record; nothing at the end of the stream.
  ///
  /// @throws BadInputException naming the record, counted from 1, and the offset
  public Optional<byte[]> next() throws IOException {
    if (!frames.beginRecord()) {
      return Optional.empty();
    }
    long start = frames.offset();
    var header = frames.take(TfRecord.HEADER_BYTES, TfRecord.HEADER_BYTES + " for the length and its checksum");
    check(header, Long.BYTES, start, "length");
    long length = ByteBuffer.wrap(header).order(ByteOrder.LITTLE_ENDIAN).getLong();
    int most = framing == Framing.KEPT ? Math.max(0, maxBytes - TfRecord.FRAME_BYTES) : maxBytes;
    if (length < 0 || length > most) {
      throw frames.tooLong(start, Long.toUnsignedString(length), most);
    }
    int size = (int) length;
    long dataStart = frames.offset();
    var data = frames.take(size + Integer.BYTES, size + " and a checksum of 4, as the length says");
    check(data, size, dataStart, "data");
    return Optional.of(framing == Framing.KEPT ? joined(header, data) : Arrays.copyOf(data, size));
  }

  /// Compares the checksum that stands behind some bytes with theirs.
  private void check(byte[] bytes, int length, long offset, String of) {
    int found = ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN).getInt(length);
    int expected = TfRecord.checksum(bytes, 0, length);
    if (found != expected) {
      throw frames.bad(offset + length,
          "the checksum 0x%08x".formatted(found), "0x%08x for the %s before it".formatted(expected, of));
    }
  }

  private static byte[] joined(byte[] header, byte[] data) {
    var record = Arrays.copyOf(header, header.length + data.length);
    System.arraycopy(data, 0, record, header.length, data.length);
    return record;
  }
}
