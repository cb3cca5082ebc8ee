package dev.berth.memory;

/// Thrown in place of an allocation for which there is no room.
public final class MemoryShortException extends RuntimeException {

  private final boolean tooLarge;

  private MemoryShortException(String message, boolean tooLarge) {
    super(message);
    this.tooLarge = tooLarge;
  }

  /// @param most all that a request may have
  static MemoryShortException tooLarge(long needed, long most) {
    return new MemoryShortException(
        "the request: found data that need %d MB of memory or more, expected at most %d; send fewer or smaller records at once"
            .formatted(mebibytes(needed), mebibytes(most)), true);
  }

  static MemoryShortException now(String why) {
    return new MemoryShortException(why + "; try again later", false);
  }

  /// Whether there is not enough for it even when nothing else runs.
  public boolean isTooLarge() {
    return tooLarge;
  }

  private static long mebibytes(long bytes) {
    return Math.max(1, bytes >> 20);
  }
}
