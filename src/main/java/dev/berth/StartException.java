package dev.berth;

/// The model can't be served; the message says why in a line or a few, for whoever starts the server.
public final class StartException extends Exception {

  public StartException(String message, Throwable cause) {
    super(message, cause);
  }
}
