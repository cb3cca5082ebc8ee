package dev.berth.telemetry;

import dev.berth.config.ServerConfig;
import io.prometheus.metrics.model.snapshots.MetricSnapshots;
import java.util.Optional;
import java.util.function.BiFunction;
import java.util.function.Consumer;
import java.util.function.Supplier;

/// Takes what is measured to another place. [java.util.ServiceLoader] finds all that there are;
/// each is asked once, before the server listens.
public interface Exporter {

    /// What runs until the server has stopped, and sends what is left then.
    interface Export extends AutoCloseable {

        /// Takes nothing.
        Export NONE = () -> {};

        /// Whether it takes traces of requests.
        default boolean traces() {
            return false;
        }

        /// A request has come, or a message of a socket: begins its trace.
        ///
        /// @param header reads a header of the request, null where it has none. It says whose trace the
        ///   request belongs to
        default <R> RequestTrace begin(String method, String path, R request, BiFunction<R, String, String> header) {
            return RequestTrace.NONE;
        }

        /// Sends what is left, within a second or two.
        @Override
        void close();
    }

    /// @param metrics reads all instruments
    /// @param print prints a line to stdout, and does not block
    /// @return empty where the settings ask for none
    Optional<Export> start(ServerConfig config, Supplier<MetricSnapshots> metrics, Consumer<String> print);
}
