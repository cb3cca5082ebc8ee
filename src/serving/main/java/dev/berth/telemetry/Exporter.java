package dev.berth.telemetry;

import dev.berth.config.ServerConfig;
import io.prometheus.metrics.model.snapshots.MetricSnapshots;
import java.time.Duration;
import java.util.Optional;
import java.util.function.Consumer;
import java.util.function.Supplier;

/// Takes what is measured to another place. [java.util.ServiceLoader] finds all that there are;
/// each is asked once, before the server listens.
public interface Exporter {

    /// What runs until the server has stopped, and sends what is left then.
    interface Export extends AutoCloseable {

        /// Traces of requests, where it takes those.
        default Tracing tracing() {
            return Tracing.OFF;
        }

        /// How long [#close] may take.
        default Duration atMost() {
            return Duration.ZERO;
        }

        @Override
        void close();
    }

    /// @param metrics reads all instruments
    /// @param print prints a line to stdout, and does not block
    /// @return empty where the settings ask for none
    Optional<Export> start(ServerConfig config, Supplier<MetricSnapshots> metrics, Consumer<String> print);
}
