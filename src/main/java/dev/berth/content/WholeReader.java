package dev.berth.content;

import java.io.IOException;
import java.io.InputStream;
import java.util.Optional;

/// Reads a stream as its only record. There is one even where the stream is empty, as in
/// SageMaker's local mode.
final class WholeReader implements RecordReader {

  private final InputStream input;
  private final int maxBytes;
  private boolean read;

  WholeReader(InputStream input, int maxBytes) {
    this.input = input;
    this.maxBytes = maxBytes;
  }

  @Override
  public Optional<byte[]> next() throws IOException {
    if (read) {
      return Optional.empty();
    }
    read = true;
    var record = input.readNBytes(maxBytes + 1);
    if (record.length > maxBytes) {
      throw LineReader.tooLong(1, maxBytes);
    }
    return Optional.of(record);
  }
}
