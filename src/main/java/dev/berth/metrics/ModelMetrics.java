package dev.berth.metrics;

import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.DistributionSummary;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.Meter;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Timer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Supplier;

/// What one model counts and times, in series with the label [#LABEL]. They are looked up once,
/// when it is made, so that an event costs no more than an addition.
///
/// Each method is an event. All of them are safe on every thread and never block. After [#close]
/// they may still be called, by hooks that a model has left behind: nobody sees what they count.
public final class ModelMetrics implements AutoCloseable {

  /// The label of the series, and the field of log lines, that has the model's name.
  public static final String LABEL = "model";

  private static final double[] SIZE_BUCKETS = {1, 2, 4, 8, 16, 32, 64, 128, 256};

  /// What an instrument of the hooks does with a value.
  public enum Kind {
    COUNTER,
    /// Of nanoseconds.
    TIMER,
    GAUGE
  }

  /// An instrument of the hooks.
  @FunctionalInterface
  public interface Instrument {
    void record(double value);
  }

  /// @param users how many versions of the model have it
  private record HookInstrument(Kind kind, Meter meter, Instrument instrument, int users) {}

  private final ServingMetrics process;
  private final MeterRegistry registry;
  private final String name;
  private final List<Meter> series = new ArrayList<>();

  private final Timer requestTime;
  private final Timer decodeTime;
  private final Timer queueWait;
  private final Timer predictTime;
  private final Timer encodeTime;
  private final Counter records;
  private final Counter tokens;
  private final Counter paddingTokens;
  private final Counter overloaded;
  private final Counter expired;
  private final Counter abandoned;
  private final AtomicInteger sessions;
  private final Counter sessionsOpened;
  private final Counter sessionsRefused;
  private final DistributionSummary batchSize;
  private final AtomicInteger inFlight;
  private final AtomicInteger queueDepth;
  private final AtomicInteger queueCapacity;

  /// Of the queues of all versions of the model.
  private final List<Supplier<Duration>> expectedWaits = new CopyOnWriteArrayList<>();

  private final AtomicInteger workers;
  private final AtomicInteger stuck;
  private final Map<Integer, Counter> requests = new ConcurrentHashMap<>();
  private final Map<String, Counter> sessionsClosed = new ConcurrentHashMap<>();

  /// By their names. Guarded by the monitor of this.
  private final Map<String, HookInstrument> ofHooks = new HashMap<>();

  // Guarded by the monitor of this: no series is added after they were removed.
  private boolean removed;
  private StreamMetrics streams;

  /// How many versions of the model share it. Guarded by the metrics of the process.
  int users;

  ModelMetrics(ServingMetrics process, MeterRegistry registry, String name) {
    this.process = process;
    this.registry = registry;
    this.name = name;
    requestTime =
        timer(
            "berth.model.request",
            "from the first byte read to the answer, one request that a model took in");
    decodeTime = timer("berth.decode", "inputFn, one request");
    queueWait = timer("berth.queue.wait", "one record in the queue");
    predictTime = timer("berth.predict", "predictFn, one batch");
    encodeTime = timer("berth.encode", "outputFn, one request");
    records = counter("berth.records", "records taken into the queue");
    tokens = counter("berth.tokens", "lengths of the records in batches, added up");
    paddingTokens =
        counter(
            "berth.padding.tokens",
            "what padding to the longest record of the batch adds to berth_tokens_total");
    overloaded = counter("berth.overloaded", "requests refused because the queue was full");
    expired = counter("berth.expired", "requests whose time ran out, waiting or running");
    abandoned =
        counter(
            "berth.abandoned",
            "records dropped before they were predicted, because nobody waited for them any more");
    sessions = gauge("berth.sessions", "sessions that are open");
    sessionsOpened = counter("berth.sessions.opened", "sessions that were opened");
    sessionsRefused =
        counter(
            "berth.sessions.refused", "sessions that were not opened because there were too many");
    batchSize =
        added(
            DistributionSummary.builder("berth.batch.size")
                .description("records in a batch, or pieces of records")
                .serviceLevelObjectives(SIZE_BUCKETS)
                .tag(LABEL, name)
                .register(registry));
    inFlight =
        gauge(
            "berth.requests.in.flight",
            "requests that the model has taken in and not answered yet");
    queueDepth = gauge("berth.queue.depth", "records waiting");
    queueCapacity = gauge("berth.queue.capacity", "records that may wait");
    added(
        Gauge.builder("berth.expected.wait", this, ModelMetrics::expectedWaitSeconds)
            .description("how long a record that came now would wait; 0 while none waits")
            .baseUnit("seconds")
            .tag(LABEL, name)
            .register(registry));
    workers = gauge("berth.workers", "workers that can predict");
    stuck = gauge("berth.stuck.hooks", "hooks that still run long after their request's deadline");
  }

  /// The model's name, which is the value of the label.
  public String model() {
    return name;
  }

  /// See [ServingMetrics#caught].
  public void caught(Throwable thrown) {
    process.caught(thrown);
  }

  /// The model has taken a request in. [#requestCompleted] follows.
  public void requestEntered() {
    inFlight.incrementAndGet();
  }

  /// A request that the model had taken in has its answer, whatever that is.
  public void requestCompleted(int status, Duration took) {
    inFlight.decrementAndGet();
    var counter = requests.get(status);
    if (counter == null) {
      counter = addRequests(status);
    }
    counter.increment();
    requestTime.record(took);
  }

  public void decoded(Duration took) {
    decodeTime.record(took);
  }

  public void encoded(Duration took) {
    encodeTime.record(took);
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

  /// A queue of the model is there, until [#queueClosed].
  ///
  /// @param capacity how many records may wait
  /// @param expectedWait asked when the metrics are read
  public void queueOpened(int capacity, Supplier<Duration> expectedWait) {
    queueCapacity.set(capacity);
    expectedWaits.add(expectedWait);
  }

  /// @param expectedWait the same object as [#queueOpened] had
  public void queueClosed(Supplier<Duration> expectedWait) {
    expectedWaits.remove(expectedWait);
  }

  private double expectedWaitSeconds() {
    return expectedWaits.stream().mapToLong(wait -> wait.get().toNanos()).max().orElse(0) / 1e9;
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
    tokens.increment((double) lengths);
    paddingTokens.increment((double) (padded - lengths));
    predictTime.record(took);
  }

  /// Those of a model that answers part by part. Made when they are first asked for, because few
  /// models do, and each series costs every reader.
  public synchronized StreamMetrics streams() {
    if (streams == null) {
      streams = new StreamMetrics(this, batchSize);
    }
    return streams;
  }

  public void sessionOpened() {
    sessions.incrementAndGet();
    sessionsOpened.increment();
  }

  public void sessionRefused() {
    sessionsRefused.increment();
  }

  /// @param reason one of a few words
  public void sessionClosed(String reason) {
    sessions.decrementAndGet();
    sessionsClosed
        .computeIfAbsent(
            reason,
            _ ->
                counter(
                    "berth.sessions.closed", "sessions that have ended, and why", "reason", reason))
        .increment();
  }

  /// An instrument that hooks have asked for, in a series with the model's name.
  ///
  /// @param anotherUser whether the version that asks has not had it before
  /// @throws IllegalArgumentException when there is one of another kind with that name
  public synchronized Instrument hookInstrument(
      Kind kind, String name, String description, boolean anotherUser) {
    var known = ofHooks.get(name);
    if (known != null && known.kind != kind) {
      throw new IllegalArgumentException(
          "metric %s: found a %s of that name, expected another name for a %s"
              .formatted(
                  name,
                  known.kind.name().toLowerCase(Locale.ROOT),
                  kind.name().toLowerCase(Locale.ROOT)));
    }
    var instrument = known == null ? hookInstrument(kind, name, description) : known;
    ofHooks.put(
        name,
        new HookInstrument(
            kind,
            instrument.meter,
            instrument.instrument,
            instrument.users + (anotherUser ? 1 : 0)));
    return instrument.instrument;
  }

  private HookInstrument hookInstrument(Kind kind, String name, String description) {
    var full = "hooks." + name;
    return switch (kind) {
      case COUNTER -> {
        var counter =
            Counter.builder(full).description(description).tag(LABEL, this.name).register(registry);
        yield new HookInstrument(kind, counter, counter::increment, 0);
      }
      case TIMER -> {
        var timer =
            Timer.builder(full).description(description).tag(LABEL, this.name).register(registry);
        yield new HookInstrument(
            kind, timer, nanos -> timer.record((long) nanos, TimeUnit.NANOSECONDS), 0);
      }
      case GAUGE -> {
        var value = new AtomicReference<>(0.0);
        var gauge =
            Gauge.builder(full, value, AtomicReference::get)
                .strongReference(true)
                .description(description)
                .tag(LABEL, this.name)
                .register(registry);
        yield new HookInstrument(kind, gauge, value::set, 0);
      }
    };
  }

  /// A version of the model does not use an instrument of its hooks any more. With the last one its
  /// series goes.
  public synchronized void releaseHookInstrument(String name) {
    var known = ofHooks.get(name);
    if (known.users > 1) {
      ofHooks.put(
          name, new HookInstrument(known.kind, known.meter, known.instrument, known.users - 1));
    } else {
      ofHooks.remove(name);
      registry.remove(known.meter);
    }
  }

  /// Says that the model is gone. With its last version its series go.
  @Override
  public void close() {
    process.release(this);
  }

  synchronized void remove() {
    removed = true;
    series.forEach(registry::remove);
    series.clear();
  }

  private Counter addRequests(int status) {
    return requests.computeIfAbsent(
        status,
        _ ->
            counter(
                "berth.model.requests",
                "requests that a model took in, by the status of their answer",
                "status",
                Integer.toString(status)));
  }

  Timer timer(String name, String description) {
    return added(ServingMetrics.timer(name, description).tag(LABEL, this.name).register(registry));
  }

  /// @param labels of its own: name, value, name, value, …
  Counter counter(String name, String description, String... labels) {
    return added(
        Counter.builder(name)
            .description(description)
            .tag(LABEL, this.name)
            .tags(labels)
            .register(registry));
  }

  AtomicInteger gauge(String name, String description) {
    var value = new AtomicInteger();
    added(
        Gauge.builder(name, value, AtomicInteger::get)
            .description(description)
            .tag(LABEL, this.name)
            .register(registry));
    return value;
  }

  private synchronized <T extends Meter> T added(T meter) {
    if (removed) {
      registry.remove(meter);
    } else {
      series.add(meter);
    }
    return meter;
  }
}
