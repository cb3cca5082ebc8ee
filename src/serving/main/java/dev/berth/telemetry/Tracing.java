package dev.berth.telemetry;

import java.util.function.BiFunction;

/// Begins the trace of each request. Closed when no more come.
public interface Tracing extends AutoCloseable {

    /// Traces nothing.
    Tracing OFF = new Tracing() {
        @Override
        public <R> RequestTrace begin(String method, String path, R request, BiFunction<R, String, String> header) {
            return RequestTrace.NONE;
        }
    };

    /// A request has come, or a message of a socket.
    ///
    /// @param header reads a header of the request, null where it has none. It says whose trace the
    ///   request belongs to
    <R> RequestTrace begin(String method, String path, R request, BiFunction<R, String, String> header);

    /// Sends what is left.
    @Override
    default void close() {}
}
