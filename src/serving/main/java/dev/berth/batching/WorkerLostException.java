package dev.berth.batching;

/// Thrown by [Predictor#predict] when no later call of this worker can succeed: the worker ends.
public final class WorkerLostException extends RuntimeException {

    public WorkerLostException(String message, Throwable cause) {
        super(message, cause);
    }
}
