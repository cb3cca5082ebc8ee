package dev.berth.transform;

import dev.berth.storage.Storage;
import dev.berth.storage.StoredObject;
import java.io.IOException;
import java.io.InputStream;
import java.util.zip.GZIPInputStream;

/// Opens objects, unpacked where a job says that they are packed. Used by any threads.
record ObjectSource(Storage storage, boolean gzip) {

  private static final int BUFFER = 1 << 16;

  /// What an object may have unpacked; one whose size is not known, or that is packed, may have anything.
  long mostBytes(StoredObject object) {
    return gzip || object.size() == 0 ? Long.MAX_VALUE : object.size();
  }

  InputStream open(StoredObject object) throws IOException {
    var in = storage.open(object.location());
    try {
      return gzip ? new GZIPInputStream(in, BUFFER) : in;
    } catch (IOException | RuntimeException e) {
      in.close();
      throw e;
    }
  }
}
