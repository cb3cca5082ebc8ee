package dev.berth.hooks;

/// The accelerator has no memory left for this batch: its callers get 507, and later requests may
/// succeed.
public final class InsufficientMemoryException extends HookException {

    public InsufficientMemoryException(String message) {
        this(message, null);
    }

    public InsufficientMemoryException(String message, Throwable cause) {
        super(message, cause);
    }
}
