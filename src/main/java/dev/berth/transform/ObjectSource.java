package dev.berth.transform;

import dev.berth.storage.Storage;
import dev.berth.storage.StoredObject;
import java.io.IOException;
import java.io.FilterInputStream;
import java.io.InputStream;
import java.util.concurrent.atomic.LongAdder;
import java.util.zip.GZIPInputStream;

/// Opens objects, unpacked where a job says that they are packed. Used by any threads.
record ObjectSource(Storage storage, boolean gzip) {

  private static final int BUFFER = 1 << 16;

  /// What an object may have unpacked; one whose size is not known, or that is packed, may have anything.
  long mostBytes(StoredObject object) {
    return gzip || object.size() == 0 ? Long.MAX_VALUE : object.size();
  }

  InputStream open(StoredObject object) throws IOException {
    return unpacked(storage.open(object.location()));
  }

  /// Opens an object.
  ///
  /// @param read counts its bytes as they are stored
  InputStream open(StoredObject object, LongAdder read) throws IOException {
    return unpacked(new FilterInputStream(storage.open(object.location())) {
      @Override
      public int read() throws IOException {
        int value = in.read();
        read.add(value < 0 ? 0 : 1);
        return value;
      }

      @Override
      public int read(byte[] bytes, int offset, int length) throws IOException {
        int count = in.read(bytes, offset, length);
        read.add(Math.max(0, count));
        return count;
      }
    });
  }

  private InputStream unpacked(InputStream in) throws IOException {
    try {
      return gzip ? new GZIPInputStream(in, BUFFER) : in;
    } catch (IOException | RuntimeException e) {
      in.close();
      throw e;
    }
  }
}
