package dev.berth.storage;

/// An object can't be listed, read or written. The message begins with the location.
///
/// It is unchecked, and what the streams of this package throw from `read` and `write` too.
public final class StorageException extends RuntimeException {

  private final boolean retryable;

  private StorageException(String message, boolean retryable, Throwable cause) {
    super(message, cause);
    this.retryable = retryable;
  }

  static StorageException permanent(Object location, String message) {
    return permanent(location, message, null);
  }

  /// One that trying again does not mend.
  ///
  /// @param location what it is about
  public static StorageException permanent(Object location, String message, Throwable cause) {
    return new StorageException(location + ": " + message, false, cause);
  }

  static StorageException retryable(Object location, String message, Throwable cause) {
    return new StorageException(location + ": " + message, true, cause);
  }

  /// Whether the same may succeed at another time, as after throttling, an error within S3 or a
  /// lost connection: the retries that [RetryPolicy] allows were not enough. Otherwise something
  /// must be put right first.
  public boolean isRetryable() {
    return retryable;
  }
}
