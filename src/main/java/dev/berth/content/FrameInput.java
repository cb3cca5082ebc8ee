package dev.berth.content;

import dev.berth.hooks.BadInputException;
import dev.berth.memory.RequestMemory;
import java.io.BufferedInputStream;
import java.io.IOException;
import java.io.InputStream;

/// A stream of framed records that knows where it is: at which record, counted from 1, and at which
/// offset.
final class FrameInput {

  /// What a record costs in memory beside its bytes.
  private static final int FRAME = 100;

  private static final int BUFFER_BYTES = 64 * 1024;

  private final BufferedInputStream input;
  private long record;
  private long offset;

  FrameInput(InputStream input) {
    this.input = new BufferedInputStream(input, BUFFER_BYTES);
  }

  /// Goes on to the next record; false where the stream ends instead.
  boolean beginRecord() throws IOException {
    input.mark(1);
    if (input.read() < 0) {
      return false;
    }
    input.reset();
    record++;
    return true;
  }

  long offset() {
    return offset;
  }

  /// Takes the next bytes. Room is made for those that come, not for those that a header promises.
  ///
  /// @param expected how many there should be and why, to end the sentence "expected …"
  byte[] take(int length, String expected) throws IOException {
    RequestMemory.charge(2L * length + FRAME);
    var bytes = input.readNBytes(length);
    if (bytes.length < length) {
      throw bad(offset, bytes.length + " bytes", expected);
    }
    offset += length;
    return bytes;
  }

  BadInputException bad(long at, String found, String expected) {
    return new BadInputException(
        "record %d, offset %d: found %s, expected %s".formatted(record, at, found, expected));
  }

  BadInputException tooLong(long at, String length, int maxBytes) {
    return bad(at, length + " bytes", "at most %d in one record".formatted(maxBytes));
  }
}
