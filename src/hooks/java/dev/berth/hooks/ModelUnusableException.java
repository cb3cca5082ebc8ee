package dev.berth.hooks;

/// No later prediction of this worker can succeed, for instance because its device has failed. The
/// worker stops; when no worker is left `/ping` turns 503 so that the platform replaces the
/// instance.
public final class ModelUnusableException extends HookException {

    public ModelUnusableException(String message) {
        this(message, null);
    }

    public ModelUnusableException(String message, Throwable cause) {
        super(message, cause);
    }
}
