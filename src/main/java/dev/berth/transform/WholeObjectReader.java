package dev.berth.transform;

import java.io.IOException;
import java.io.InputStream;
import java.util.Optional;

/// Reads an object as its only record. There is one even where the object is empty, as in SageMaker's local mode.
final class WholeObjectReader implements RecordReader {

  private final InputStream object;
  private final int maxBytes;
  private boolean read;

  WholeObjectReader(InputStream object, int maxBytes) {
    this.object = object;
    this.maxBytes = maxBytes;
  }

  @Override
  public Optional<byte[]> next() throws IOException {
    if (read) {
      return Optional.empty();
    }
    read = true;
    var record = object.readNBytes(maxBytes + 1);
    if (record.length > maxBytes) {
      throw RecordReader.tooLong(1, maxBytes);
    }
    return Optional.of(record);
  }
}
