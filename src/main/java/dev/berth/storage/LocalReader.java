package dev.berth.storage;

import java.io.IOException;
import java.io.InputStream;

/// Reads a file, and says which one it is when that fails.
final class LocalReader extends ObjectStream {

  private final Location.Local location;
  private final InputStream in;

  LocalReader(Location.Local location, InputStream in) {
    this.location = location;
    this.in = in;
  }

  @Override
  public int read(byte[] bytes, int offset, int length) {
    return named(() -> in.read(bytes, offset, length));
  }

  @Override
  public long skip(long count) {
    return named(() -> in.skip(count));
  }

  @Override
  public int available() {
    return named(in::available);
  }

  @Override
  public void close() {
    named(
        () -> {
          in.close();
          return null;
        });
  }

  private <T> T named(Reading<T> reading) {
    try {
      return reading.get();
    } catch (IOException e) {
      throw LocalErrors.of(location, "read", e);
    }
  }

  private interface Reading<T> {
    T get() throws IOException;
  }
}
