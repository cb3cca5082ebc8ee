package dev.berth.transform;

/// A payload that the container did not answer, or answered with an error.
final class InvocationException extends RuntimeException {

  private final boolean retryable;

  InvocationException(boolean retryable, String message, Throwable cause) {
    super(message, cause);
    this.retryable = retryable;
  }

  /// Whether the same payload may be answered at another time.
  boolean isRetryable() {
    return retryable;
  }
}
