package dev.berth.transform;

import dev.berth.storage.StoredObject;

/// What becomes of a payload. Called by many threads at the same time, each for a payload of its
/// own.
interface Exchange {

  /// Asks the container, and gives what is written for the payload.
  ///
  /// @throws RuntimeException when the object fails with it
  byte[] output(Payload payload, StoredObject object) throws InterruptedException;

  /// An earlier run has made this output.
  default void resumed(byte[] output) {}
}
