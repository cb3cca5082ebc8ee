package dev.berth.hooks;

/// The caller accepts no content type that the hook can write: 406.
public final class NotAcceptableException extends HookException {

    public NotAcceptableException(String message) {
        this(message, null);
    }

    public NotAcceptableException(String message, Throwable cause) {
        super(message, cause);
    }
}
