package dev.berth.error;

/// Why a request failed, as the server sees it. The HTTP status of each stands in one place,
/// `dev.berth.http.Errors`.
public enum ErrorType {
  /// The payload or a parameter is wrong.
  BAD_INPUT,
  /// There is no such path or model.
  NOT_FOUND,
  /// The path exists, for another method.
  METHOD_NOT_ALLOWED,
  /// The caller accepts no content type that the model writes.
  NOT_ACCEPTABLE,
  /// The payload is larger than the server takes.
  PAYLOAD_TOO_LARGE,
  /// The payload has a content type that the model does not read.
  UNSUPPORTED_MEDIA_TYPE,
  /// A model of that name is there already, or comes or goes right now.
  CONFLICT,
  /// A WebSocket handshake has a version that the server does not speak.
  UPGRADE_REQUIRED,
  /// The caller closed the connection before the answer.
  CALLER_GONE,
  /// A hook or the server failed.
  INTERNAL,
  /// The model is loading, stopping or failed.
  NOT_READY,
  /// The queue is full: refused at once, worth a retry.
  OVERLOADED,
  /// The request's time ran out before it was answered.
  DEADLINE_EXCEEDED,
  /// The accelerator or the process had no memory for it.
  INSUFFICIENT_MEMORY
}
