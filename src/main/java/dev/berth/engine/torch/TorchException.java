package dev.berth.engine.torch;

/// The engine could not load or run a model, in one line; the engine's own exception is the cause.
public final class TorchException extends RuntimeException {

  public TorchException(String message) {
    this(message, null);
  }

  public TorchException(String message, Throwable cause) {
    super(message, cause);
  }
}
