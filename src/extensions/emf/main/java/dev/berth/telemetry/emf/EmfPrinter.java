package dev.berth.telemetry.emf;

import dev.berth.config.ServerConfig;
import dev.berth.telemetry.Exporter;
import io.prometheus.metrics.model.snapshots.MetricSnapshots;
import java.time.Instant;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// Prints [EmfDocuments] at an interval on a thread of its own, and once more at the end, where the
/// settings ask for it.
public final class EmfPrinter implements Exporter {

    private static final Logger log = LoggerFactory.getLogger(EmfPrinter.class);

    @Override
    public Optional<Export> start(ServerConfig config, Supplier<MetricSnapshots> metrics, Consumer<String> print) {
        if (config.get(EmfConfig.FORMAT) != EmfConfig.Format.EMF) {
            return Optional.empty();
        }
        var documents = new EmfDocuments(config.find(EmfConfig.DIMENSIONS).orElse(Map.of()));
        Runnable printing = () -> {
            try {
                documents.of(metrics.get(), Instant.now()).forEach(print);
            } catch (RuntimeException | Error e) {
                // It would be the last time otherwise.
                log.warn("the metrics could not be printed", e);
            }
        };
        var clock = Executors.newSingleThreadScheduledExecutor(
                Thread.ofPlatform().name("berth-metrics").daemon().factory());
        long nanos = config.get(EmfConfig.INTERVAL).toNanos();
        var _ = clock.scheduleAtFixedRate(printing, nanos, nanos, TimeUnit.NANOSECONDS);
        return Optional.of(() -> {
            clock.execute(printing);
            clock.close();
        });
    }
}
