package dev.berth.engine;

/// The device that was asked for is not known, not there, or not the one that the model was traced
/// for.
public final class DeviceException extends RuntimeException {

    public DeviceException(String message) {
        super(message);
    }
}
