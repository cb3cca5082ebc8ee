package dev.berth.command;

import dev.berth.batching.WorkerPool;
import dev.berth.config.HttpConfig;
import dev.berth.config.ModelConfig;
import dev.berth.config.MonitoringConfig;
import dev.berth.config.ServerConfig;
import dev.berth.config.ServingConfig;
import dev.berth.engine.Machine;
import dev.berth.hooks.InferenceHandler;
import dev.berth.http.HttpServer;
import dev.berth.http.NamedModels;
import dev.berth.metrics.ModelMetrics;
import dev.berth.metrics.ServingMetrics;
import dev.berth.serving.Health;
import dev.berth.serving.ServedModel;
import dev.berth.serving.hooks.HookThreads;
import dev.berth.serving.many.ManyModels;
import dev.berth.serving.many.ModelDirectory;
import dev.berth.serving.many.ModelStore;
import dev.berth.serving.many.Served;
import dev.berth.telemetry.Exporter;
import dev.berth.telemetry.Exporter.Export;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.ServiceLoader;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.slf4j.MDC;

/// Puts the server together, for one model or for many, and stops it in order. The listener starts
/// while the model loads, so that `/ping` can say 503 meanwhile.
public final class Server implements AutoCloseable {

    private static final Logger log = LoggerFactory.getLogger(Server.class);

    private final ServerConfig config;
    private final ServingMetrics metrics;
    private final List<Export> exports;
    private final Served served;

    /// Empty where nobody looks for artifacts.
    private final Optional<ModelDirectory> directory;

    private final Health health;
    private final HttpServer http;

    /// Ends when the model can serve, or never will.
    private final FutureTask<Void> ready;

    /// Null until the devices are known.
    private volatile WorkerPool workers;

    /// Starts to listen and to load the model of the artifact with the hooks that it asks for; or to
    /// wait for models.
    public static Server start(ServerConfig config) {
        return new Server(config, Optional.empty());
    }

    /// The same with hooks of one's own, which it closes. Messages name the class; the artifact may
    /// be anything.
    public static Server start(ServerConfig config, InferenceHandler<?, ?, ?> handler) {
        return new Server(config, Optional.of(handler));
    }

    /// @param own hooks of the only model
    private Server(ServerConfig config, Optional<InferenceHandler<?, ?, ?>> own) {
        this.config = config;
        this.metrics =
                new ServingMetrics(config.get(MonitoringConfig.METRICS_ALIASES) == MonitoringConfig.Aliases.VLLM);
        this.exports = ServiceLoader.load(Exporter.class).stream()
                .map(exporter -> exporter.get().start(config, metrics::snapshots, Logging::print))
                .flatMap(Optional::stream)
                .toList();
        HookThreads hooks;
        Supplier<Optional<String>> probe;
        Callable<Void> start;
        if (own.isEmpty() && (ModelConfig.areMany(config) || config.get(ModelConfig.WATCH))) {
            // Models that come and go, or versions of one. /ping ignores a single model's failure.
            hooks = HookThreads.ofSeveralModels();
            var loader = new ArtifactLoader(config);
            var store = new ModelStore(
                    hooks, metrics, loader, config.get(ModelConfig.LOAD_TIMEOUT), config.get(ServingConfig.TIMEOUT));
            var atStart = config.get(ModelConfig.LOAD_MODELS) == ModelConfig.Load.START;
            this.directory = config.get(ModelConfig.WATCH)
                    ? Optional.of(new ModelDirectory(
                            config.get(ModelConfig.MODEL_DIR), true, store, true, ModelDirectory.BETWEEN_EDITS))
                    : config.find(ModelConfig.MODELS)
                            .map(root -> new ModelDirectory(root, false, store, atStart, ModelDirectory.BETWEEN_LOOKS));
            this.served = directory.map(ModelDirectory::models).orElseGet(() -> ManyModels.of(store));
            probe = this::problemOfAll;
            start = () -> prepare(loader);
        } else {
            hooks = HookThreads.ofOneModel();
            var model = new ServedModel(Served.NAME, hooks, metrics);
            this.directory = Optional.empty();
            this.served = new Served.One(model);
            probe = model::problem;
            start = () -> load(model, own);
        }
        this.health = new Health(metrics, hooks, probe, served::all, config.get(ServingConfig.STUCK_AFTER));
        this.ready = new FutureTask<>(start);
        this.http = listen();
    }

    /// The rest of the start goes on while the listener starts: each takes some tenths of a second.
    private HttpServer listen() {
        metrics.lostLogEvents(Logging::dropped);
        metrics.ready(() -> health.problem().isEmpty());
        Thread.ofPlatform().name("berth-loader").daemon().start(ready);
        HttpServer listening;
        try {
            listening = new HttpServer(
                    config,
                    new NamedModels(served, health, config.get(ModelConfig.NAME)),
                    metrics,
                    exports.stream().filter(Export::traces).findFirst().orElse(Export.NONE));
        } catch (RuntimeException e) {
            served.all().forEach(model -> model.refuse("the server can't listen"));
            throw e;
        }
        health.start();
        var host = HttpConfig.inUrl(config.get(HttpConfig.HOST));
        log.info(
                "listening on {}:{}{}",
                host,
                listening.port(),
                HttpConfig.isLocal(config)
                        ? ", which only this machine can reach; --host 0.0.0.0 lets all others in"
                        : "");
        listening.otherPorts().forEach((protocol, port) -> log.info("listening for {} on {}:{}", protocol, host, port));
        return listening;
    }

    /// How long [#close] takes at most, beside its last steps.
    Duration mostToClose() {
        return http.mostToClose().plus(config.get(HttpConfig.LAME_DUCK)).plus(config.get(HttpConfig.DRAIN));
    }

    public int port() {
        return http.port();
    }

    /// The ports of protocols that have one of their own.
    public Map<String, Integer> otherPorts() {
        return http.otherPorts();
    }

    /// Whether it works where its port has no answer in time.
    boolean worksInside(Duration patience) {
        return http.worksInside(patience);
    }

    /// Says that a thread has met an error that nobody else knows of.
    void caught(Throwable error) {
        metrics.caught(error);
    }

    /// Waits until the model can serve.
    ///
    /// @throws StartException when it never will
    public void awaitReady() throws InterruptedException, StartException {
        try {
            ready.get();
        } catch (ExecutionException e) {
            throw StartException.of(e.getCause());
        }
    }

    /// Says on `/ping` that it stops, serves on for the lame-duck time, then refuses new requests,
    /// answers the running ones within the time to drain, and stops everything.
    @Override
    public void close() throws Exception {
        log.info("stopping");
        health.stop();
        metrics.keepModels();
        Thread.sleep(config.get(HttpConfig.LAME_DUCK));
        http.drain();
        directory.ifPresent(ModelDirectory::close);
        try (metrics;
                AutoCloseable _ = () -> exports.forEach(Export::close);
                health;
                http) {
            served.close(config.get(HttpConfig.DRAIN));
        }
        log.info("stopped");
    }

    private Void prepare(ArtifactLoader loader) throws Exception {
        workers = loader.prepare();
        if (directory.isPresent()) {
            directory.get().start();
        }
        var state = "ready for models";
        if (config.get(ModelConfig.WATCH)) {
            state = served.problem().isEmpty() ? "watching for edits" : "nothing to serve yet, watching for edits";
        }
        log.info("{}: {} workers", state, workers.accelerators().size());
        return null;
    }

    private Void load(ServedModel model, Optional<InferenceHandler<?, ?, ?>> own) throws Exception {
        MDC.put(ModelMetrics.LABEL, model.name());
        try {
            var deployment = Deployment.plan(config, Machine.current(), own);
            log.info(
                    "accelerators: {} ({})",
                    deployment.devices().accelerators(),
                    deployment.devices().origin());
            deployment.hooks().description().forEach((name, value) -> log.info("{}: {}", name, value));
            workers = new WorkerPool(deployment.workers());
            deployment.load(model, workers, Deployment.sessions(config));
            log.info("ready: {} workers, {}", deployment.workers().size(), deployment.limits());
            return null;
        } catch (Throwable e) {
            model.loadFailed(e);
            throw e;
        }
    }

    /// Why no model can serve, whichever it is.
    private Optional<String> problemOfAll() {
        // The first version of one that is edited may never load.
        if (workers == null || (!ready.isDone() && served.many().isPresent())) {
            return Optional.of("the server is starting");
        }
        if (!workers.isHealthy()) {
            return Optional.of("predictFn does not end on any of the threads that run it");
        }
        return served.problem();
    }
}
