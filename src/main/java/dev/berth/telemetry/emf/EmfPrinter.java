package dev.berth.telemetry.emf;

import io.prometheus.metrics.model.snapshots.MetricSnapshots;
import java.time.Duration;
import java.time.Instant;
import java.util.Map;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// Prints [EmfDocuments] at an interval on a thread of its own, and once more at the end.
public final class EmfPrinter implements AutoCloseable {

  private static final Logger log = LoggerFactory.getLogger(EmfPrinter.class);

  private final EmfDocuments documents;
  private final Supplier<MetricSnapshots> metrics;
  private final Consumer<String> line;
  private final ScheduledExecutorService clock =
      Executors.newSingleThreadScheduledExecutor(
          Thread.ofPlatform().name("berth-metrics").daemon().factory());

  private EmfPrinter(
      EmfDocuments documents, Supplier<MetricSnapshots> metrics, Consumer<String> line) {
    this.documents = documents;
    this.metrics = metrics;
    this.line = line;
  }

  /// @param dimensions of all metrics, by name
  /// @param metrics reads all instruments
  /// @param line prints a line, and must not block
  public static EmfPrinter start(
      Duration interval,
      Map<String, String> dimensions,
      Supplier<MetricSnapshots> metrics,
      Consumer<String> line) {
    var printer = new EmfPrinter(new EmfDocuments(dimensions), metrics, line);
    long nanos = interval.toNanos();
    var _ = printer.clock.scheduleAtFixedRate(printer::print, nanos, nanos, TimeUnit.NANOSECONDS);
    return printer;
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
