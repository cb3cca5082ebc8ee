package dev.berth.error;

/// Why a request failed, as the server sees it. The HTTP status of each stands in one place,
/// `dev.berth.http.Errors`.
public enum ErrorType {
  BAD_INPUT("The payload or a parameter is wrong"),
  NOT_FOUND("There is no such path, model, sample or file"),
  METHOD_NOT_ALLOWED("The path has other methods"),
  NOT_ACCEPTABLE("The model writes none of the types of Accept"),
  PAYLOAD_TOO_LARGE("The payload is larger than the server takes"),
  UNSUPPORTED_MEDIA_TYPE("The model does not read this Content-Type"),
  CONFLICT("A model of this name is there, or comes or goes right now"),
  UPGRADE_REQUIRED("The WebSocket handshake has another version than 13"),
  CALLER_GONE("The client closed the connection before the answer"),
  INTERNAL("A hook or the server failed"),
  NOT_READY("The model is loading, stopping or failed"),
  OVERLOADED("The queue is full; worth a retry"),
  DEADLINE_EXCEEDED("The time of the request ran out before it was answered"),
  INSUFFICIENT_MEMORY("The accelerator or the process had no memory for it");

  private final String meaning;

  ErrorType(String meaning) {
    this.meaning = meaning;
  }

  /// For people.
  public String meaning() {
    return meaning;
  }
}
