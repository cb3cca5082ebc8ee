package dev.berth.transform;

/// An object that can't be transformed, and why: the record and the reason.
final class TransformException extends RuntimeException {

  TransformException(String message, Throwable cause) {
    super(message, cause);
  }
}
