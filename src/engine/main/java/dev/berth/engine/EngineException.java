package dev.berth.engine;

/// An engine could not start, or could not load or run a model. The message is one line; the cause
/// is the library's own exception.
public class EngineException extends RuntimeException {

    public EngineException(String message) {
        this(message, null);
    }

    public EngineException(String message, Throwable cause) {
        super(message, cause);
    }
}
