package dev.berth.metrics;

import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.DistributionSummary;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Tags;
import io.micrometer.core.instrument.Timer;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Function;
import java.util.function.Supplier;

/// What one model counts and times, in series with the label [Instruments#LABEL].
///
/// **A new instrument is a field.** Each method is an event that moves several. All of them are
/// safe on every thread and never block. After [#close] they may still be called, by hooks that a
/// model has left behind: what they count is not seen.
public final class ModelMetrics extends Instruments implements AutoCloseable {

    private static final int FAILED = 400;
    private static final double[] SIZE_BUCKETS = {1, 2, 4, 8, 16, 32, 64, 128, 256};

    public final Timer decode = timer("berth.decode", "inputFn, one request");
    public final Timer queueWait = timer("berth.queue.wait", "one record in the queue");
    public final Timer predict = timer("berth.predict", "predictFn, one batch");
    public final Timer encode = timer("berth.encode", "outputFn, one request");

    public final Timer requestTime =
            timer("berth.model.request", "from the first byte read to the answer, one request that succeeded");
    public final Timer failureTime = timer(
            "berth.model.failure", "from the first byte read to the answer, one request that failed or was rejected");
    private final Function<String, Counter> requests =
            counters("berth.model.requests", "requests that a model took in, by the status of their answer", "status");
    private final AtomicInteger inFlight =
            gauge("berth.requests.in.flight", "requests that the model has taken in and not answered yet");
    public final Counter overloaded = counter("berth.overloaded", "requests refused because the queue was full");
    public final Counter expired = counter("berth.expired", "requests whose time ran out, waiting or running");

    public final Counter records = counter("berth.records", "records taken into the queue");
    public final Counter abandoned = counter(
            "berth.abandoned", "records dropped before they were predicted, because nobody waited for them any more");

    /// When a batch was predicted last, in milliseconds since 1970; 0: none was.
    private volatile long lastPredicted;

    private final AtomicInteger queueDepth = gauge("berth.queue.depth", "requests waiting");
    private final AtomicInteger queueCapacity = gauge("berth.queue.capacity", "requests that may wait");

    private final Counter tokens = counter("berth.tokens", "lengths of the records in batches, added up");
    private final Counter paddingTokens = counter(
            "berth.padding.tokens", "what padding to the longest record of the batch adds to berth_tokens_total");
    private final DistributionSummary batchSize =
            summary("berth.batch.size", "records in a batch, or pieces of records", SIZE_BUCKETS);

    private final AtomicInteger sessions = gauge("berth.sessions", "sessions that are open");
    private final Counter sessionsOpened = counter("berth.sessions.opened", "sessions that were opened");
    public final Counter sessionsRefused =
            counter("berth.sessions.refused", "sessions that were not opened because there were too many");
    private final Function<String, Counter> sessionsClosed =
            counters("berth.sessions.closed", "sessions that have ended, and why", "reason");

    public final AtomicInteger workers = gauge("berth.workers", "workers that can predict");
    public final AtomicInteger stuckHooks =
            gauge("berth.stuck.hooks", "hooks that still run long after their request's deadline");

    /// What the hooks count and time themselves.
    public final HookMetrics ofHooks = new HookMetrics(this);

    private final ServingMetrics process;
    private final String name;

    /// [#requestTime] under vLLM's name.
    private final Optional<Timer> alias;

    /// Of the queues of all versions of the model.
    private final List<Supplier<Duration>> expectedWaits = new CopyOnWriteArrayList<>();

    /// Guarded by the monitor of this.
    private Streams streams;

    /// What a model that answers part by part counts and times besides.
    public final class Streams {
        public final Timer firstPart =
                timer("berth.first.part", "from the first byte read to the first part, one streamed answer");
        public final Counter parts = counter("berth.parts", "parts of streamed answers");
        public final Counter broken = counter(
                "berth.streams.broken",
                "streamed answers that failed after their first part, whose clients had read a 200");
        public final AtomicInteger streams = gauge(
                "berth.streams",
                "records that are being predicted in steps, those that wait for their readers included");
        private final Timer stepTime = timer("berth.step", "stepFn, one step of all records in the batch");

        private Streams() {}

        /// A step was made for so many records, whether it failed or not.
        public void stepped(int size, Duration took) {
            batchSize.record(size);
            stepTime.record(took);
        }
    }

    /// How many versions of the model share it. Guarded by the metrics of the process.
    int users;

    ModelMetrics(MeterRegistry registry, String name, ServingMetrics process, boolean hasAliases) {
        super(registry, Tags.of(LABEL, name));
        this.process = process;
        this.name = name;
        this.alias = hasAliases ? Optional.of(underNamesOfVllm()) : Optional.empty();
        gauge(
                "berth.expected.wait.seconds",
                "how long a record that came now would wait; 0 while none waits",
                this::expectedWaitSeconds);
    }

    /// For dashboards that were made for vLLM. What stands for what is a guess: vLLM counts sequences that
    /// are generated, Berth requests and records.
    private Timer underNamesOfVllm() {
        String[] label = {"model_name", name};
        gauge(
                "vllm:num_requests_running",
                "requests without an answer (berth_requests_in_flight)",
                inFlight::get,
                label);
        gauge("vllm:num_requests_waiting", "requests that wait (berth_queue_depth)", queueDepth::get, label);
        return timer(
                "vllm:e2e_request_latency",
                "from the first byte read to the answer, one request (berth_model_request_seconds)",
                label);
    }

    public String model() {
        return name;
    }

    /// Something was thrown. The process has it counted where it is an [OutOfMemoryError].
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
        requests.apply(Integer.toString(status)).increment();
        if (status >= FAILED) {
            failureTime.record(took);
        } else {
            requestTime.record(took);
            alias.ifPresent(timer -> timer.record(took));
        }
    }

    /// A request was taken into the queue.
    ///
    /// @param count of its records
    public void requestQueued(int count) {
        records.increment(count);
        queueDepth.incrementAndGet();
    }

    /// The last records of a request left the queue, for a batch or because nobody waits for them.
    public void requestDequeued() {
        queueDepth.decrementAndGet();
    }

    /// A queue of the model is there.
    ///
    /// @param capacity how many requests may wait
    /// @param expectedWait asked when the metrics are read
    /// @return to be run when the queue is closed
    public Runnable queueOpened(int capacity, Supplier<Duration> expectedWait) {
        queueCapacity.set(capacity);
        expectedWaits.add(expectedWait);
        return () -> expectedWaits.remove(expectedWait);
    }

    private double expectedWaitSeconds() {
        return expectedWaits.stream()
                        .mapToLong(wait -> wait.get().toNanos())
                        .max()
                        .orElse(0)
                / 1e9;
    }

    /// A batch went through the predictor, whether it failed or not.
    ///
    /// @param lengths the lengths of its records, added up
    /// @param padded what the batch costs: its size × its longest record
    public void batchPredicted(int size, long lengths, long padded, Duration took) {
        batchSize.record(size);
        tokens.increment((double) lengths);
        paddingTokens.increment((double) (padded - lengths));
        predict.record(took);
        lastPredicted = System.currentTimeMillis();
    }

    public long lastPredicted() {
        return lastPredicted;
    }

    /// Those of a model that answers part by part. Made when they are first asked for, because few
    /// models do, and each series costs every reader.
    public synchronized Streams streams() {
        if (streams == null) {
            streams = new Streams();
        }
        return streams;
    }

    public void sessionOpened() {
        sessions.incrementAndGet();
        sessionsOpened.increment();
    }

    /// @param reason one of a few words
    public void sessionClosed(String reason) {
        sessions.decrementAndGet();
        sessionsClosed.apply(reason).increment();
    }

    /// Says that the model is gone. With its last version its series go.
    @Override
    public void close() {
        process.release(this);
    }
}
