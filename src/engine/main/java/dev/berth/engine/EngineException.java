package dev.berth.engine;

/// A device is not as it was asked for, or an engine could not start, load a model or run it. The
/// message is one line; the cause is the library's own exception.
public class EngineException extends RuntimeException {

    public EngineException(String message) {
        this(message, null);
    }

    public EngineException(String message, Throwable cause) {
        super(message, cause);
    }
}
