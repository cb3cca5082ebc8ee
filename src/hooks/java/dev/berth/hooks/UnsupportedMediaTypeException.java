package dev.berth.hooks;

/// The payload has a content type that the hook does not read: the caller gets 415.
public final class UnsupportedMediaTypeException extends HookException {

    public UnsupportedMediaTypeException(String message) {
        this(message, null);
    }

    public UnsupportedMediaTypeException(String message, Throwable cause) {
        super(message, cause);
    }
}
