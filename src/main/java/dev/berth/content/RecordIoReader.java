package dev.berth.content;

import dev.berth.content.Framing.Frames;
import dev.berth.hooks.BadInputException;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Optional;

/// Reads the records of [RecordIo] from a stream. Messages name the record, counted from 1, and the
/// offset.
final class RecordIoReader implements RecordReader {

  private final FrameInput input;
  private final Frames frames;
  private final int maxBytes;

  RecordIoReader(InputStream input, Frames frames, int maxBytes) {
    this.input = new FrameInput(input);
    this.frames = frames;
    this.maxBytes = maxBytes;
  }

  @Override
  public Optional<byte[]> next() throws IOException {
    if (!input.beginRecord()) {
      return Optional.empty();
    }
    var record = new ByteArrayOutputStream();
    long offset = input.offset();
    int flag = part(record);
    if (flag != RecordIo.WHOLE && flag != RecordIo.FIRST) {
      throw badFlag(offset, flag, "0 or 1 at the beginning of a record");
    }
    while (flag == RecordIo.FIRST || flag == RecordIo.BETWEEN) {
      offset = input.offset();
      if (frames == Frames.STRIPPED) {
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
    long offset = input.offset();
    var header =
        input.take(
            RecordIo.HEADER_BYTES, RecordIo.HEADER_BYTES + " for the magic number and the length");
    var words = ByteBuffer.wrap(header).order(ByteOrder.LITTLE_ENDIAN);
    int magic = words.getInt();
    if (magic != RecordIo.MAGIC) {
      throw input.bad(
          offset, "0x%08x".formatted(magic), "the magic number 0x%08x".formatted(RecordIo.MAGIC));
    }
    int word = words.getInt();
    int length = word & RecordIo.MAX_LENGTH;
    int padded = RecordIo.padded(length);
    long added = frames == Frames.KEPT ? header.length + padded : length;
    if (record.size() + added > maxBytes) {
      throw input.tooLong(offset, Long.toString(record.size() + added), maxBytes);
    }
    var bytes = input.take(padded, padded + " with the padding, as the length says");
    if (frames == Frames.KEPT) {
      record.writeBytes(header);
      record.writeBytes(bytes);
    } else {
      record.write(bytes, 0, length);
    }
    return word >>> RecordIo.LENGTH_BITS;
  }

  private BadInputException badFlag(long offset, int flag, String expected) {
    return input.bad(offset, "the continuation flag " + flag, expected);
  }
}
