package dev.berth.memory;

/// Thrown in place of an allocation for which there is no room.
public final class MemoryShortException extends RuntimeException {

    private final boolean tooLarge;

    private MemoryShortException(String message, boolean tooLarge) {
        super(message);
        this.tooLarge = tooLarge;
    }

    /// @param most all that a request may have
    static MemoryShortException tooLarge(long most) {
        return new MemoryShortException(
                "the request: found data that need more memory than the %d MB that there are for one, expected fewer or smaller records"
                        .formatted(most >> 20),
                true);
    }

    /// @param bytes that the request needs
    static MemoryShortException beside(long bytes) {
        return now("the request needs %d MB of memory, and other requests have too much of it"
                .formatted(1 + (bytes >> 20)));
    }

    static MemoryShortException now(String why) {
        return new MemoryShortException(why + "; try again later", false);
    }

    /// Whether there is not enough for it even when nothing else runs.
    public boolean isTooLarge() {
        return tooLarge;
    }
}
