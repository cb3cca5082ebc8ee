package dev.berth.transform;

/// An object, or a job, that can't be transformed, and why: the record and the reason.
public final class TransformException extends RuntimeException {

  TransformException(String message, Throwable cause) {
    super(message, cause);
  }
}
