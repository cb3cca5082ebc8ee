package dev.berth.storage;

/// An object can't be listed, read or written. The message begins with the location.
///
/// It is unchecked, and what the streams of this package throw from `read` and `write` too.
public final class StorageException extends RuntimeException {

    private enum Fault {
        /// Something must be put right with this object.
        OF_OBJECT,
        /// The same may succeed at another time.
        PASSING,
        /// Something must be put right with the store, or with what it lets this process do.
        OF_STORE
    }

    private final Fault fault;

    private StorageException(Fault fault, Object location, String message, Throwable cause) {
        super(location + ": " + message, cause);
        this.fault = fault;
    }

    public static StorageException permanent(Object location, String message) {
        return permanent(location, message, null);
    }

    /// One that trying again does not mend.
    public static StorageException permanent(Object location, String message, Throwable cause) {
        return new StorageException(Fault.OF_OBJECT, location, message, cause);
    }

    /// Of an object that is not as it was.
    public static StorageException changed(Object object, String since, long found, long expected) {
        return permanent(object, "changed %s: found %d bytes, expected %d".formatted(since, found, expected));
    }

    public static StorageException retryable(Object location, String message, Throwable cause) {
        return new StorageException(Fault.PASSING, location, message, cause);
    }

    /// One that any other object would meet too.
    public static StorageException ofStore(Object location, String message, Throwable cause) {
        return new StorageException(Fault.OF_STORE, location, message, cause);
    }

    /// Whether the same may succeed at another time, as after throttling, an error within S3 or a
    /// lost connection: the retries that the store has made were not enough. Otherwise something must
    /// be put right first.
    public boolean isRetryable() {
        return fault == Fault.PASSING;
    }

    /// Whether any other object would meet it too: a full disk, credentials that do not count, an
    /// output that must not be written.
    public boolean isOfStore() {
        return fault == Fault.OF_STORE;
    }
}
