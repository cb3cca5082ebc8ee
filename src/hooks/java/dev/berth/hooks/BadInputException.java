package dev.berth.hooks;

/// The payload is wrong: the caller gets 400.
public final class BadInputException extends HookException {

    public BadInputException(String message) {
        this(message, null);
    }

    public BadInputException(String message, Throwable cause) {
        super(message, cause);
    }
}
