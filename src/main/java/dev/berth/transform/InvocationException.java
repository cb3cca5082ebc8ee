package dev.berth.transform;

import java.util.OptionalInt;

/// A payload that the container did not answer, or answered with an error.
final class InvocationException extends RuntimeException {

  private final OptionalInt status;

  /// @param status of the answer; empty: there was none
  InvocationException(OptionalInt status, String message, Throwable cause) {
    super(message, cause);
    this.status = status;
  }

  OptionalInt status() {
    return status;
  }

  /// Whether the same payload may be answered at another time.
  boolean isRetryable() {
    return status.isEmpty() || status.getAsInt() == 429 || status.getAsInt() >= 500;
  }
}
