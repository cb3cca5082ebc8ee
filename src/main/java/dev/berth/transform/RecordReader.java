package dev.berth.transform;

import dev.berth.content.BatchStrategy;
import dev.berth.content.Framing;
import dev.berth.content.RecordIoReader;
import dev.berth.content.TfRecordReader;
import dev.berth.hooks.BadInputException;
import java.io.IOException;
import java.io.InputStream;
import java.util.Optional;

/// Reads the records of one object, one after the other: there is never more than one of them in memory. For one
/// thread; the stream is the caller's to close.
@FunctionalInterface
interface RecordReader {

  /// The next record as it is sent: framed under `MultiRecord` and bare under `SingleRecord`, a line with its newline
  /// under both. Nothing at the end.
  ///
  /// @throws BadInputException naming the record, counted from 1, when it is broken or does not fit into a request
  /// @throws IOException when the object can't be read
  Optional<byte[]> next() throws IOException;

  static RecordReader of(InputStream object, Splitting splitting) {
    var framing = splitting.batchStrategy() == BatchStrategy.MULTI_RECORD ? Framing.KEPT : Framing.STRIPPED;
    int maxBytes = splitting.maxRecord();
    return switch (splitting.splitType()) {
      case NONE -> new WholeObjectReader(object, maxBytes);
      case LINE -> new LineReader(object, maxBytes);
      case RECORD_IO -> new RecordIoReader(object, framing, maxBytes)::next;
      case TF_RECORD -> new TfRecordReader(object, framing, maxBytes)::next;
    };
  }

  static BadInputException tooLong(long record, int maxBytes) {
    return new BadInputException(
        "record %d: found more than %2$d bytes, expected at most %2$d in one record".formatted(record, maxBytes));
  }
}
