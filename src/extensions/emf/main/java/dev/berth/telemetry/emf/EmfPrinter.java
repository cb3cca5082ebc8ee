package dev.berth.telemetry.emf;

import dev.berth.config.ServerConfig;
import dev.berth.telemetry.Exporter;
import io.prometheus.metrics.model.snapshots.MetricSnapshots;
import java.time.Instant;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// Prints [EmfDocuments] at an interval on a thread of its own, and once more at the end.
public final class EmfPrinter implements Exporter.Export {

    private static final Logger log = LoggerFactory.getLogger(EmfPrinter.class);

    private final EmfDocuments documents;
    private final Supplier<MetricSnapshots> metrics;
    private final Consumer<String> line;
    private final ScheduledExecutorService clock = Executors.newSingleThreadScheduledExecutor(
            Thread.ofPlatform().name("berth-metrics").daemon().factory());

    private EmfPrinter(EmfDocuments documents, Supplier<MetricSnapshots> metrics, Consumer<String> line) {
        this.documents = documents;
        this.metrics = metrics;
        this.line = line;
    }

    /// Where the settings ask for it.
    public static final class OfSettings implements Exporter {
        @Override
        public Optional<Export> start(ServerConfig config, Supplier<MetricSnapshots> metrics, Consumer<String> print) {
            if (config.get(EmfConfig.FORMAT) != EmfConfig.Format.EMF) {
                return Optional.empty();
            }
            var dimensions = config.find(EmfConfig.DIMENSIONS).orElse(Map.of());
            var printer = new EmfPrinter(new EmfDocuments(dimensions), metrics, print);
            long nanos = config.get(EmfConfig.INTERVAL).toNanos();
            var _ = printer.clock.scheduleAtFixedRate(printer::print, nanos, nanos, TimeUnit.NANOSECONDS);
            return Optional.of(printer);
        }
    }

    private synchronized void print() {
        try {
            documents.of(metrics.get(), Instant.now()).forEach(line);
        } catch (RuntimeException | Error e) {
            // It would be the last time otherwise.
            log.warn("the metrics could not be printed", e);
        }
    }

    @Override
    public void close() {
        clock.shutdownNow();
        print();
    }
}
