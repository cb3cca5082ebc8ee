package dev.berth.error;

/// Why a request failed, with the HTTP status that says so: **a status is changed here
/// alone**. Each reason means one thing. Clients are told of those that have the same
/// [#code] by one word.
public enum ErrorType {
    BAD_INPUT(400),
    /// What a page from elsewhere asks.
    FORBIDDEN(403),
    NOT_FOUND(404),
    METHOD_NOT_ALLOWED(405),
    NOT_ACCEPTABLE(406),
    PAYLOAD_TOO_LARGE(413),
    UNSUPPORTED_MEDIA_TYPE(415),
    /// A model of this name is there, or comes or goes right now.
    CONFLICT(409),
    /// A handshake of another version than 13.
    UPGRADE_REQUIRED(426),
    /// It has closed its connection. nginx's status for that, which only the metrics and the log have.
    CALLER_GONE(499),
    INTERNAL(500),
    NOT_READY(503),
    /// The queue is full, or a turn would come too late.
    OVERLOADED(503),
    TOO_MANY_CONNECTIONS(503, OVERLOADED),
    TOO_MANY_SESSIONS(503, OVERLOADED),
    TOO_MANY_LOADS(503, OVERLOADED),
    MEMORY_TAKEN(503, OVERLOADED),
    DEADLINE_EXCEEDED(504),
    INSUFFICIENT_MEMORY(507);

    private final int status;
    private final String code;

    ErrorType(int status) {
        this.status = status;
        this.code = name();
    }

    /// @param told the reason by whose name clients are told of it
    ErrorType(int status, ErrorType told) {
        this.status = status;
        this.code = told.code;
    }

    /// What clients, the log and metrics have of it: `OVERLOADED`.
    public String code() {
        return code;
    }

    public int status() {
        return status;
    }

    /// Whether it is 503 or 429: the same request may succeed after [#retryAfter].
    public boolean isRefusal() {
        return status == 503 || status == 429;
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
}
