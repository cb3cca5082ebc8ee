package dev.berth.metrics;

import com.sun.management.OperatingSystemMXBean;
import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.FunctionCounter;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.Meter.MeterProvider;
import io.micrometer.core.instrument.Tags;
import io.micrometer.core.instrument.Timer;
import io.micrometer.core.instrument.binder.jvm.ClassLoaderMetrics;
import io.micrometer.core.instrument.binder.jvm.JvmGcMetrics;
import io.micrometer.core.instrument.binder.jvm.JvmInfoMetrics;
import io.micrometer.core.instrument.binder.jvm.JvmMemoryMetrics;
import io.micrometer.core.instrument.binder.jvm.JvmThreadMetrics;
import io.micrometer.core.instrument.binder.system.FileDescriptorMetrics;
import io.micrometer.core.instrument.binder.system.ProcessorMetrics;
import io.micrometer.core.instrument.binder.system.UptimeMetrics;
import io.micrometer.core.instrument.config.MeterFilter;
import io.micrometer.prometheusmetrics.PrometheusConfig;
import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import io.prometheus.metrics.model.snapshots.MetricSnapshots;
import java.lang.management.ManagementFactory;
import java.time.Duration;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.BooleanSupplier;
import java.util.function.Function;
import java.util.function.LongSupplier;
import java.util.stream.Stream;

/// What the process counts and times. What belongs to a model is in its own [ModelMetrics].
///
/// **A new instrument is a field.** Each method is an event that moves several. All of them are
/// safe on every thread and never block.
public final class ServingMetrics extends Instruments implements AutoCloseable {

    public static final String CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8";

    private final MeterProvider<Counter> requests;
    private final Function<String, Timer> requestTime =
            timers("berth.request", "from the first byte read to the answer", "route");
    public final AtomicInteger connections = gauge("berth.connections", "connections that are open");
    public final Function<String, Counter> connectionsDropped = counters(
            "berth.connections.dropped",
            "connections and requests refused for want of connections, and connections closed to make way",
            "reason");
    public final AtomicInteger sockets = gauge("berth.sockets", "WebSockets that are open");
    private final Function<String, Counter> socketsClosed =
            counters("berth.sockets.closed", "WebSockets that were closed, by the code of their close frame", "code");
    public final AtomicInteger modelsLoaded = gauge("berth.models.loaded", "models that can serve");
    private final Timer loadTime = timer("berth.model.load", "loading and warming up a model on all of its workers");
    public final Function<String, Counter> loads =
            counters("berth.model.loads", "models that were to be loaded, by what became of it", "result");
    public final Counter evictions = counter("berth.model.evictions", "models that made way for others");

    private final PrometheusMeterRegistry registry;
    private final JvmGcMetrics garbageCollection = new JvmGcMetrics();
    private final AtomicReference<String> outOfMemory = new AtomicReference<>();
    private final AtomicLong outOfMemoryErrors = new AtomicLong();
    private final Map<String, ModelMetrics> models = new ConcurrentHashMap<>();
    private final boolean hasAliases;
    private volatile boolean keepsModels;

    public ServingMetrics() {
        this(false);
    }

    /// @param hasAliases whether some series of models are there under vLLM's names too
    public ServingMetrics(boolean hasAliases) {
        var registry = registry();
        super(registry, Tags.empty());
        this.registry = registry;
        requests = Counter.builder("berth.requests")
                .description("HTTP requests answered")
                .withRegistry(registry);
        this.hasAliases = hasAliases;
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
        if (ManagementFactory.getOperatingSystemMXBean() instanceof OperatingSystemMXBean system) {
            FunctionCounter.builder("process.cpu", system, of -> of.getProcessCpuTime() / 1e9)
                    .description("CPU time of the process, user and system")
                    .baseUnit("seconds")
                    .register(registry);
        }
        FunctionCounter.builder("berth.out.of.memory", outOfMemoryErrors, AtomicLong::get)
                .description("OutOfMemoryErrors of the JVM; after the first one, /ping is 503")
                .register(registry);
        Gauge.builder("berth.build.info", () -> 1)
                .description("the version of Berth and of Java")
                .tags("version", version(), "java", Runtime.version().toString())
                .register(registry);
    }

    /// Without those of Micrometer whose names Prometheus would not have. Its own for the first is
    /// `process_cpu_seconds_total`.
    private static PrometheusMeterRegistry registry() {
        var registry = new PrometheusMeterRegistry(PrometheusConfig.DEFAULT);
        registry.config()
                .meterFilter(MeterFilter.denyNameStartsWith("process.cpu.time"))
                .meterFilter(MeterFilter.denyNameStartsWith("system.cpu.count"));
        return registry;
    }

    /// Of Berth.
    public static String version() {
        return Objects.requireNonNullElse(ServingMetrics.class.getPackage().getImplementationVersion(), "(unpackaged)");
    }

    /// Has it said whether `/ping` is 200.
    public void ready(BooleanSupplier isReady) {
        gauge("berth.ready", "1 while /ping is 200, else 0", () -> isReady.getAsBoolean() ? 1 : 0);
    }

    /// Has lines of the log counted that were lost because they were not read in time.
    ///
    /// @param count since the start
    public void lostLogEvents(LongSupplier count) {
        FunctionCounter.builder("berth.log.lines.dropped", count, LongSupplier::getAsLong)
                .description("lines of the log that were lost because nobody read them in time")
                .register(registry);
    }

    /// Something was thrown. Of an [OutOfMemoryError] that the JVM itself threw, the first message is
    /// kept. It needs no memory.
    public void caught(Throwable thrown) {
        // A hook's own class of it may do anything when it is asked.
        if (thrown.getClass() == OutOfMemoryError.class && isOfTheJvm((OutOfMemoryError) thrown)) {
            outOfMemory.compareAndSet(null, thrown.getMessage());
            outOfMemoryErrors.incrementAndGet();
        }
    }

    /// The message of the first [OutOfMemoryError] of the JVM, if there was one.
    public Optional<String> outOfMemory() {
        return Optional.ofNullable(outOfMemory.get());
    }

    /// Not what libraries and hooks make themselves. Nor an array that is longer than any may be:
    /// that says nothing of the memory that is left.
    private static boolean isOfTheJvm(OutOfMemoryError error) {
        var message = Objects.requireNonNullElse(error.getMessage(), "");
        return switch (message) {
            case "Java heap space", "GC overhead limit exceeded", "Metaspace", "Compressed class space" -> true;
            default -> message.startsWith("unable to create native thread");
        };
    }

    /// @param route the route's pattern and not the caller's path, so that callers can't make new
    ///   time series
    public void requestCompleted(String route, int status, Duration took) {
        requests.withTags("route", route, "status", Integer.toString(status)).increment();
        requestTime.apply(route).record(took);
    }

    /// @param code of the close frame. Those that RFC 6455 does not have count as one, so that
    ///   callers can't make up new ones
    public void socketClosed(int code) {
        sockets.decrementAndGet();
        socketsClosed
                .apply(code >= 1000 && code < 1016 ? Integer.toString(code) : "other")
                .increment();
    }

    /// The instruments of a model, in series with its name, until they are closed. Two versions of a
    /// model that are there at the same time share them. So the values of the label are the names of
    /// models that are loaded, or being loaded.
    public ModelMetrics ofModel(String name) {
        return models.compute(name, (_, known) -> {
            var ofModel = known == null ? new ModelMetrics(registry, name, this, hasAliases) : known;
            ofModel.users++;
            return ofModel;
        });
    }

    /// Empty: no model of that name is loaded.
    public Optional<ModelMetrics> find(String model) {
        return Optional.ofNullable(models.get(model));
    }

    /// From now on the series of a model stay when it goes. The server stops, and what is sent last
    /// has them.
    public void keepModels() {
        keepsModels = true;
    }

    void release(ModelMetrics ofModel) {
        if (keepsModels) {
            return;
        }
        models.computeIfPresent(ofModel.model(), (_, known) -> {
            known.users--;
            if (known.users > 0) {
                return known;
            }
            known.remove();
            return null;
        });
    }

    public void modelLoaded(Duration took) {
        loadTime.record(took);
        modelsLoaded.incrementAndGet();
        loads.apply("loaded").increment();
    }

    /// All instruments in the Prometheus text format 0.0.4.
    public String scrape() {
        return registry.scrape(CONTENT_TYPE);
    }

    /// All instruments as they are now, in the model of Prometheus. Whoever sends metrics elsewhere
    /// reads them here, so that nothing is counted twice.
    public MetricSnapshots snapshots() {
        return registry.getPrometheusRegistry().scrape();
    }

    @Override
    public void close() {
        garbageCollection.close();
        registry.close();
    }
}
