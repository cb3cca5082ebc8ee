package dev.berth.transform;

import java.io.InputStream;

/// The body of one request.
sealed interface Payload {

  /// What it has in memory.
  long bytes();

  /// How many records it has; an object that is not split is one.
  int records();

  /// Whole records.
  ///
  /// @param firstRecord the place of the first record in its object, counted from 1
  /// @param records how many there are
  /// @param body what is sent
  /// @param input the records as they were before `InputFilter` where the answers are joined with them, else `body`
  record MiniBatch(long firstRecord, int records, byte[] body, byte[] input) implements Payload {

    @Override
    public long bytes() {
      return Math.max(body.length, input.length);
    }
  }

  /// Everything that an object holds, of any length, to be sent chunk by chunk. It is read from the object while it is
  /// sent, so whoever sends it again has to open the object again.
  record WholeObject(InputStream body) implements Payload {

    @Override
    public long bytes() {
      return 0;
    }

    @Override
    public int records() {
      return 1;
    }
  }
}
