package dev.berth.command;

import dev.berth.config.ServerConfig;
import dev.berth.engine.DeviceException;
import dev.berth.engine.EngineException;
import dev.berth.hooks.InferenceHandler;
import dev.berth.http.HttpServer;
import dev.berth.metrics.ServingMetrics;
import dev.berth.serving.Health;
import dev.berth.serving.HeapWatch;
import dev.berth.serving.HookPool;
import dev.berth.serving.ModelRegistry;
import dev.berth.serving.ServedModel;
import dev.berth.serving.StuckHooks;
import dev.berth.serving.Workers;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// Puts the server together, and stops it in order. The listener starts while the model loads, so that `/ping` can say
/// 503 meanwhile.
public final class Server implements AutoCloseable {

  private static final Logger log = LoggerFactory.getLogger(Server.class);

  private final ServerConfig config;
  private final ServingMetrics metrics = new ServingMetrics();
  private final HookPool hooks = new HookPool(metrics);
  private final ModelRegistry models = new ModelRegistry();
  private final ServedModel model = new ServedModel("model", hooks, metrics);
  private final HeapWatch heap = new HeapWatch(metrics);
  private final Health health = new Health(models, hooks, heap);
  private final StuckHooks stuckHooks;
  private final HttpServer http;
  private final CompletableFuture<Void> ready = new CompletableFuture<>();
  /// Null until the devices are known.
  private volatile Workers workers;

  /// Starts to listen and to load the model of the artifact with the hooks that it asks for.
  public static Server start(ServerConfig config) {
    return new Server(config, () -> Deployment.plan(config));
  }

  /// The same with hooks of one's own, which it closes. Messages name the class; the artifact may be anything.
  public static Server start(ServerConfig config, InferenceHandler<?, ?, ?> handler) {
    return new Server(config, () -> Deployment.plan(config, () ->
        new ArtifactHooks(handler, new LinkedHashMap<>(Map.of("hooks", handler.getClass().getName())))));
  }

  /// The model loads while the listener starts: each takes some tenths of a second.
  private Server(ServerConfig config, Callable<Deployment> plan) {
    this.config = config;
    this.stuckHooks = new StuckHooks(hooks, models, heap, metrics, config.batching().stuckAfter());
    metrics.lostLogEvents(Logging::dropped);
    models.add(model);
    Thread.ofPlatform().name("berth-loader").daemon().start(() -> load(plan));
    try {
      this.http = HttpServer.start(config, health, model, metrics);
    } catch (RuntimeException e) {
      model.refuse("the server can't listen");
      throw e;
    }
    stuckHooks.start();
    log.info("listening on {}:{}", config.http().host(), http.port());
  }

  public int port() {
    return http.port();
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

  /// Says on `/ping` that it stops, serves on for the lame-duck time, then refuses new requests, answers the running ones
  /// within the time to drain, and stops everything.
  @Override
  public void close() throws Exception {
    log.info("stopping");
    health.stop();
    Thread.sleep(config.http().lameDuck());
    try (metrics; hooks; stuckHooks; http; var _ = workers) {
      models.close(config.http().drain());
    }
    log.info("stopped");
  }

  private void load(Callable<Deployment> plan) {
    try {
      var deployment = plan.call();
      log.info("accelerators: {} ({})", deployment.devices().accelerators(), deployment.devices().origin());
      deployment.hooks().description().forEach((name, value) -> log.info("{}: {}", name, value));
      workers = Workers.on(deployment.workers(), metrics);
      model.load(config.model().directory().toAbsolutePath().normalize(), deployment.hooks().handler(), workers, deployment.limits());
      log.info("ready: {} workers, each on {}", deployment.workers().size(), deployment.limits());
      ready.complete(null);
    } catch (Throwable e) {
      model.loadFailed(e);
      ready.completeExceptionally(e);
    }
  }
}
