package dev.berth.error;

/// A request that can't be served, and why. The message goes to the caller; the cause only to the
/// log.
public final class ServingException extends RuntimeException {

    private final ErrorType type;

    /// By [ErrorType#because].
    ServingException(ErrorType type, String message, Throwable cause) {
        // The log shows no stack of a refusal. One of 90 frames takes 25 us, which counts under overload.
        super(message, cause, true, !type.isRefusal());
        this.type = type;
    }

    public ErrorType type() {
        return type;
    }
}
