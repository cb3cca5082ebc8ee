package dev.berth.metrics;

import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.DistributionSummary;
import io.micrometer.core.instrument.FunctionCounter;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.Meter.MeterProvider;
import io.micrometer.core.instrument.Timer;
import io.micrometer.core.instrument.binder.jvm.ClassLoaderMetrics;
import io.micrometer.core.instrument.binder.jvm.JvmGcMetrics;
import io.micrometer.core.instrument.binder.jvm.JvmInfoMetrics;
import io.micrometer.core.instrument.binder.jvm.JvmMemoryMetrics;
import io.micrometer.core.instrument.binder.jvm.JvmThreadMetrics;
import io.micrometer.core.instrument.binder.system.FileDescriptorMetrics;
import io.micrometer.core.instrument.binder.system.ProcessorMetrics;
import io.micrometer.core.instrument.binder.system.UptimeMetrics;
import io.micrometer.prometheusmetrics.PrometheusConfig;
import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import java.time.Duration;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.LongSupplier;
import java.util.stream.Stream;

/// What the server counts and times. Several models share one: depths and workers add up.
///
/// Each method is an event. All of them are safe on every thread and never block.
public final class ServingMetrics implements AutoCloseable {

  /// The content type of [#scrape()].
  public static final String CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8";

  private static final Duration[] LATENCY_BUCKETS =
      Stream.of(1, 2, 5, 10, 20, 50, 100, 200, 500, 1_000, 2_000, 5_000, 10_000, 30_000, 60_000)
          .map(Duration::ofMillis)
          .toArray(Duration[]::new);
  private static final double[] SIZE_BUCKETS = {1, 2, 4, 8, 16, 32, 64, 128, 256};

  private final PrometheusMeterRegistry registry = new PrometheusMeterRegistry(PrometheusConfig.DEFAULT);
  private final JvmGcMetrics garbageCollection = new JvmGcMetrics();

  private final MeterProvider<Counter> requests = Counter.builder("berth.requests")
      .description("HTTP requests answered")
      .withRegistry(registry);
  private final MeterProvider<Timer> requestTime = timer("berth.request", "from the first byte read to the answer")
      .withRegistry(registry);
  private final Timer decodeTime = timer("berth.decode", "inputFn, one request").register(registry);
  private final Timer queueWait = timer("berth.queue.wait", "one record in the queue").register(registry);
  private final Timer predictTime = timer("berth.predict", "predictFn, one batch").register(registry);
  private final Timer encodeTime = timer("berth.encode", "outputFn, one request").register(registry);
  private final Timer loadTime = Timer.builder("berth.model.load")
      .description("loading and warming up a model on all of its workers")
      .register(registry);

  private final Counter records = counter("berth.records", "records taken into the queue");
  private final Counter tokens = counter("berth.tokens", "lengths of the records in batches, added up");
  private final Counter paddingTokens =
      counter("berth.padding.tokens", "what padding to the longest record of the batch adds to berth_tokens_total");
  private final Counter overloaded = counter("berth.overloaded", "requests refused because the queue was full");
  private final Counter expired = counter("berth.expired", "requests whose time ran out, waiting or running");
  private final Counter abandoned = counter(
      "berth.abandoned", "records dropped before they were predicted, because nobody waited for them any more");
  private final DistributionSummary batchSize = DistributionSummary.builder("berth.batch.size")
      .description("records in a batch, or pieces of records")
      .serviceLevelObjectives(SIZE_BUCKETS)
      .register(registry);
  private final AtomicReference<String> outOfMemory = new AtomicReference<>();
  private final AtomicLong outOfMemoryErrors = new AtomicLong();
  private final MeterProvider<Counter> connectionsDropped = Counter.builder("berth.connections.dropped")
      .description("connections and requests refused for want of connections, and connections closed to make way")
      .withRegistry(registry);
  private final AtomicInteger connections = gauge("berth.connections", "connections that are open");
  private final AtomicInteger queueDepth = gauge("berth.queue.depth", "records waiting");
  private final AtomicInteger workers = gauge("berth.workers", "workers that can predict");
  private final AtomicInteger stuck = gauge("berth.stuck.hooks", "hooks that still run long after their request's deadline");

  public ServingMetrics() {
    Stream.of(
            garbageCollection,
            new ClassLoaderMetrics(),
            new JvmInfoMetrics(),
            new JvmMemoryMetrics(),
            new JvmThreadMetrics(),
            new ProcessorMetrics(),
            new FileDescriptorMetrics(),
            new UptimeMetrics())
        .forEach(binder -> binder.bindTo(registry));
    FunctionCounter.builder("berth.out.of.memory", outOfMemoryErrors, AtomicLong::get)
        .description("OutOfMemoryErrors of the JVM; after the first one, /ping is 503")
        .register(registry);
  }

  /// Has lines of the log counted that were lost because nobody read them in time.
  ///
  /// @param count since the start
  public void lostLogEvents(LongSupplier count) {
    FunctionCounter.builder("berth.log.lines.dropped", count, LongSupplier::getAsLong)
        .description("lines of the log that were lost because nobody read them in time")
        .register(registry);
  }

  /// Something was thrown. Of an [OutOfMemoryError] that the JVM itself threw, the first message is kept. It needs no memory.
  public void caught(Throwable thrown) {
    if (thrown instanceof OutOfMemoryError error && isOfTheJvm(error)) {
      outOfMemory.compareAndSet(null, error.getMessage());
      outOfMemoryErrors.incrementAndGet();
    }
  }

  /// The message of the first [OutOfMemoryError] of the JVM, if there was one.
  public Optional<String> outOfMemory() {
    return Optional.ofNullable(outOfMemory.get());
  }

  /// Not what libraries and hooks make themselves. Nor an array that is longer than any may be: that says nothing of the
  /// memory that is left.
  private static boolean isOfTheJvm(OutOfMemoryError error) {
    var message = Objects.requireNonNullElse(error.getMessage(), "");
    return switch (message) {
      case "Java heap space", "GC overhead limit exceeded", "Metaspace", "Compressed class space" -> true;
      default -> message.startsWith("unable to create native thread");
    };
  }

  /// @param route the route's pattern and not the caller's path, so that callers can't make new time series
  public void requestCompleted(String route, int status, Duration took) {
    requests.withTags("route", route, "status", Integer.toString(status)).increment();
    requestTime.withTag("route", route).record(took);
  }

  public void connectionOpened() {
    connections.incrementAndGet();
  }

  public void connectionClosed() {
    connections.decrementAndGet();
  }

  /// A connection was refused, or closed although its client had not asked for it.
  ///
  /// @param reason one of a few words
  public void connectionDropped(String reason) {
    connectionsDropped.withTag("reason", reason).increment();
  }

  public void decoded(Duration took) {
    decodeTime.record(took);
  }

  public void encoded(Duration took) {
    encodeTime.record(took);
  }

  public void modelLoaded(Duration took) {
    loadTime.record(took);
  }

  public void workerStarted() {
    workers.incrementAndGet();
  }

  public void workerStopped() {
    workers.decrementAndGet();
  }

  public void hookStuck() {
    stuck.incrementAndGet();
  }

  /// A hook that was stuck has ended after all.
  public void hookUnstuck() {
    stuck.decrementAndGet();
  }

  /// A request's records were taken into the queue.
  public void recordsQueued(int count) {
    records.increment(count);
    queueDepth.addAndGet(count);
  }

  /// Records left the queue, for a batch or because nobody waits for them.
  public void recordsDequeued(int count) {
    queueDepth.addAndGet(-count);
  }

  public void recordWaited(Duration waited) {
    queueWait.record(waited);
  }

  /// Records were dropped before they were predicted.
  public void recordsAbandoned(int count) {
    abandoned.increment(count);
  }

  public void requestOverloaded() {
    overloaded.increment();
  }

  public void requestExpired() {
    expired.increment();
  }

  /// A batch went through the predictor, whether it failed or not.
  ///
  /// @param lengths the lengths of its records, added up
  /// @param padded what the batch costs: its size × its longest record
  public void batchPredicted(int size, long lengths, long padded, Duration took) {
    batchSize.record(size);
    tokens.increment(lengths);
    paddingTokens.increment(padded - lengths);
    predictTime.record(took);
  }

  /// All instruments in the Prometheus text format 0.0.4.
  public String scrape() {
    return registry.scrape(CONTENT_TYPE);
  }

  @Override
  public void close() {
    garbageCollection.close();
    registry.close();
  }

  private static Timer.Builder timer(String name, String description) {
    return Timer.builder(name).description(description).serviceLevelObjectives(LATENCY_BUCKETS);
  }

  private Counter counter(String name, String description) {
    return Counter.builder(name).description(description).register(registry);
  }

  private AtomicInteger gauge(String name, String description) {
    var value = new AtomicInteger();
    Gauge.builder(name, value, AtomicInteger::get).description(description).register(registry);
    return value;
  }
}
