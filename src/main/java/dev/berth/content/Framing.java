package dev.berth.content;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicBoolean;

/// What splits a stream into records.
public enum Framing {
  /// Nothing. The whole stream is one record.
  NONE((input, _, maxBytes) -> whole(input, maxBytes)),
  /// A newline at the end of each record.
  LINES((input, _, maxBytes) -> new LineReader(input, maxBytes)),
  /// See [RecordIo].
  RECORD_IO(RecordIo.Reader::new),
  /// See [TfRecord].
  TF_RECORD(TfRecord.Reader::new);

  /// What a reader gives of a framed record. A line always keeps its newline.
  public enum Frames {
    /// The record with the frame around it, byte for byte as it was read.
    KEPT,
    /// The record alone.
    STRIPPED
  }

  @FunctionalInterface
  private interface Opener {
    RecordReader open(InputStream input, Frames frames, int maxBytes);
  }

  private final Opener opener;

  Framing(Opener opener) {
    this.opener = opener;
  }

  /// Opens a reader of the stream's records. The stream is the caller's to close.
  ///
  /// @param maxBytes the bytes that a record can have as it is given
  public RecordReader open(InputStream input, Frames frames, int maxBytes) {
    return opener.open(input, frames, maxBytes);
  }

  /// There is one record even where the stream is empty, as in SageMaker's local mode.
  private static RecordReader whole(InputStream input, int maxBytes) {
    var isRead = new AtomicBoolean();
    return () -> {
      if (isRead.getAndSet(true)) {
        return Optional.empty();
      }
      var record = input.readNBytes(maxBytes + 1);
      if (record.length > maxBytes) {
        throw LineReader.tooLong(1, maxBytes);
      }
      return Optional.of(record);
    };
  }

  /// Whether a line has nothing but white space.
  public static boolean isBlank(byte[] line) {
    for (byte b : line) {
      if (b != ' ' && b != '\t' && b != '\r' && b != '\n') {
        return false;
      }
    }
    return true;
  }

  /// The bare records of a body.
  List<byte[]> records(byte[] body) {
    var reader = open(new ByteArrayInputStream(body), Frames.STRIPPED, Integer.MAX_VALUE);
    var records = new ArrayList<byte[]>();
    try {
      for (var record = reader.next(); record.isPresent(); record = reader.next()) {
        records.add(record.get());
      }
    } catch (IOException e) {
      throw new IllegalStateException("a body is in memory already", e);
    }
    return records;
  }
}
