package dev.berth.content;

import dev.berth.hooks.BadInputException;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Optional;

/// Reads the records of [RecordIo] from a stream, one after the other: there is never more than one of them in memory.
/// For one thread; the stream is the caller's to close.
public final class RecordIoReader {

  private final FrameInput frames;
  private final Framing framing;
  private final int maxBytes;

  /// @param maxBytes what a record as it is given may have
  public RecordIoReader(InputStream input, Framing framing, int maxBytes) {
    this.frames = new FrameInput(input);
    this.framing = framing;
    this.maxBytes = maxBytes;
  }

  /// The next record; nothing at the end of the stream.
  ///
  /// @throws BadInputException naming the record, counted from 1, and the offset
  public Optional<byte[]> next() throws IOException {
    if (!frames.beginRecord()) {
      return Optional.empty();
    }
    var record = new ByteArrayOutputStream();
    long offset = frames.offset();
    int flag = part(record);
    if (flag != RecordIo.WHOLE && flag != RecordIo.FIRST) {
      throw badFlag(offset, flag, "0 or 1 at the beginning of a record");
    }
    while (flag == RecordIo.FIRST || flag == RecordIo.BETWEEN) {
      offset = frames.offset();
      if (framing == Framing.STRIPPED) {
        record.writeBytes(RecordIo.word(RecordIo.MAGIC));
      }
      flag = part(record);
      if (flag != RecordIo.BETWEEN && flag != RecordIo.LAST) {
        throw badFlag(offset, flag, "2 or 3 within a record");
      }
    }
    return Optional.of(record.toByteArray());
  }

  /// Adds the next part to the record.
  ///
  /// @return its continuation flag
  private int part(ByteArrayOutputStream record) throws IOException {
    long offset = frames.offset();
    var header = frames.take(RecordIo.HEADER_BYTES, RecordIo.HEADER_BYTES + " for the magic number and the length");
    var words = ByteBuffer.wrap(header).order(ByteOrder.LITTLE_ENDIAN);
    int magic = words.getInt();
    if (magic != RecordIo.MAGIC) {
      throw frames.bad(offset, "0x%08x".formatted(magic), "the magic number 0x%08x".formatted(RecordIo.MAGIC));
    }
    int word = words.getInt();
    int length = word & RecordIo.MAX_LENGTH;
    int padded = RecordIo.padded(length);
    long added = framing == Framing.KEPT ? header.length + padded : length;
    if (record.size() + added > maxBytes) {
      throw frames.tooLong(offset, Long.toString(record.size() + added), maxBytes);
    }
    var bytes = frames.take(padded, padded + " with the padding, as the length says");
    if (framing == Framing.KEPT) {
      record.writeBytes(header);
      record.writeBytes(bytes);
    } else {
      record.write(bytes, 0, length);
    }
    return word >>> RecordIo.LENGTH_BITS;
  }

  private BadInputException badFlag(long offset, int flag, String expected) {
    return frames.bad(offset, "the continuation flag " + flag, expected);
  }
}
