package dev.berth.transform;

/// An object, or a job, that can't be transformed, and why: the record and the reason.
public final class TransformException extends RuntimeException {

    TransformException(String message) {
        super(message);
    }

    TransformException(String message, Throwable cause) {
        super(message, cause);
    }

    /// What a thread of its own has thrown, for the one that waits for it.
    static RuntimeException thrown(Throwable cause) {
        return switch (cause) {
            case RuntimeException known -> known;
            case Error known -> throw known;
            default -> new TransformException(cause.toString(), cause);
        };
    }

    /// What there is to say where the heap is full.
    public static String heapIsFull() {
        long megabytes = Runtime.getRuntime().maxMemory() >> 20;
        return "the heap of %d MB is full; JAVA_OPTS=-Xmx%dm has room for more".formatted(megabytes, 2 * megabytes);
    }
}
