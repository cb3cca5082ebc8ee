package dev.berth.error;

/// Why a request failed, with the HTTP status that says so and when to try again: **a status is
/// changed here alone**. Each reason means one thing. Clients are told of those that have the same
/// [#code] by one word.
public enum ErrorType {
    BAD_INPUT(400, "The payload or a parameter is wrong"),
    FORBIDDEN(403, "A page from elsewhere may not ask this"),
    NOT_FOUND(404, "There is no such path, model, sample or file"),
    METHOD_NOT_ALLOWED(405, "The path has other methods"),
    NOT_ACCEPTABLE(406, "The model writes none of the types of Accept"),
    PAYLOAD_TOO_LARGE(413, "The payload is larger than the server takes"),
    UNSUPPORTED_MEDIA_TYPE(415, "The model does not read this Content-Type"),
    CONFLICT(409, "A model of this name is there, or comes or goes right now"),
    UPGRADE_REQUIRED(426, "The WebSocket handshake has another version than 13"),
    /// nginx's status for it. Only the metrics and the log have it.
    CALLER_GONE(499, "The client closed the connection before the answer"),
    INTERNAL(500, "A hook or the server failed"),
    NOT_READY(503, "The model is loading, stopping or failed"),
    OVERLOADED(503, "The queue is full; worth a retry"),
    TOO_MANY_CONNECTIONS(503, OVERLOADED, "Other connections have all the places; worth a retry"),
    TOO_MANY_SESSIONS(503, OVERLOADED, "Other sessions have all the places; worth a retry"),
    TOO_MANY_LOADS(503, OVERLOADED, "Too many models are being loaded; worth a retry"),
    MEMORY_TAKEN(503, OVERLOADED, "Other requests have the memory; worth a retry"),
    DEADLINE_EXCEEDED(504, "The time of the request ran out before it was answered"),
    INSUFFICIENT_MEMORY(507, "The accelerator or the process had no memory for it");

    private final int status;
    private final String meaning;
    private final String code;

    ErrorType(int status, String meaning) {
        this.status = status;
        this.meaning = meaning;
        this.code = name();
    }

    /// @param told the reason by whose name clients are told of it
    ErrorType(int status, ErrorType told, String meaning) {
        this.status = status;
        this.meaning = meaning;
        this.code = told.code;
    }

    /// What clients, the log and metrics have of it: `OVERLOADED`.
    public String code() {
        return code;
    }

    public int status() {
        return status;
    }

    /// Whether the same request may succeed after [#retryAfter], because there was no room for it.
    public boolean isRefusal() {
        return status == 503;
    }

    /// The seconds of `Retry-After`; 0: the header is left out.
    public int retryAfter() {
        return isRefusal() ? 1 : 0;
    }

    /// @param message for the caller
    public ServingException because(String message) {
        return because(message, null);
    }

    /// What the caller sent is not what was expected.
    ///
    /// @param name of a header, a field or a part
    public ServingException found(String name, String found, Object expected) {
        return because("%s: found %s, expected %s".formatted(name, found, expected));
    }

    /// @param cause for the log alone
    public ServingException because(String message, Throwable cause) {
        return new ServingException(this, message, cause);
    }

    /// For people.
    public String meaning() {
        return meaning;
    }
}
