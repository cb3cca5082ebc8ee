package dev.berth.command;

import dev.berth.artifact.ModelArtifactException;
import dev.berth.artifact.code.HookPlace;
import dev.berth.config.ServerConfig;
import dev.berth.engine.DeviceException;
import dev.berth.engine.EngineException;
import dev.berth.hooks.InferenceHandler;
import dev.berth.http.HttpServer;
import dev.berth.metrics.ServingMetrics;
import dev.berth.serving.HookPermits;
import dev.berth.serving.LoadException;
import dev.berth.serving.PayloadMemory;
import dev.berth.serving.ServedModel;
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
  private final ServedModel model =
      new ServedModel("model", new HookPermits(), PayloadMemory.forThisJvm(), metrics);
  private final HttpServer http;
  private final CompletableFuture<Void> ready = new CompletableFuture<>();

  /// Starts to listen and to load the model of the artifact with the hooks that it asks for.
  public static Server start(ServerConfig config) {
    return start(config, () -> Deployment.plan(config));
  }

  /// The same with hooks of one's own, which it closes. Messages name the class; the artifact may be anything.
  public static Server start(ServerConfig config, InferenceHandler<?, ?, ?> handler) {
    return start(config, () -> Deployment.plan(config, () ->
        new ArtifactHooks(handler, new LinkedHashMap<>(Map.of("hooks", handler.getClass().getName())))));
  }

  private static Server start(ServerConfig config, Callable<Deployment> plan) {
    var server = new Server(config, plan);
    if (config.model().multiModel()) {
      server.model.refuse("a server for a multi-model endpoint (SAGEMAKER_MULTI_MODEL=true) has no model of its own");
      server.ready.complete(null);
    }
    return server;
  }

  /// The model loads while the listener starts: each takes some tenths of a second.
  private Server(ServerConfig config, Callable<Deployment> plan) {
    this.config = config;
    if (!config.model().multiModel()) {
      Thread.ofPlatform().name("berth-loader").daemon().start(() -> load(plan));
    }
    try {
      this.http = HttpServer.start(config, model, metrics);
    } catch (RuntimeException e) {
      model.refuse("the server can't listen");
      throw e;
    }
    log.info("listening on {}:{}", config.http().host(), http.port());
  }

  public int port() {
    return http.port();
  }

  /// Waits until the model can serve.
  ///
  /// @throws StartException when it never will
  public void awaitReady() throws InterruptedException, StartException {
    try {
      ready.get();
    } catch (ExecutionException e) {
      throw new StartException(reason(e.getCause()), e.getCause());
    }
  }

  /// Refuses new requests, answers the running ones within the time to drain, then stops everything.
  @Override
  public void close() throws Exception {
    log.info("stopping");
    try (metrics; http) {
      model.close(config.http().drain());
    }
    log.info("stopped");
  }

  private void load(Callable<Deployment> plan) {
    try {
      var deployment = plan.call();
      log.info("accelerators: {} ({})", deployment.devices().accelerators(), deployment.devices().origin());
      deployment.hooks().description().forEach((name, value) -> log.info("{}: {}", name, value));
      model.load(config.model().directory().toAbsolutePath().normalize(), deployment.hooks().handler(), deployment.workers(), deployment.limits());
      log.info("ready: {} workers, each on {}", deployment.workers().size(), deployment.limits());
      ready.complete(null);
    } catch (Throwable e) {
      model.refuse("the model could not be loaded");
      ready.completeExceptionally(e);
    }
  }

  /// What to tell whoever starts the server. Exceptions that are not about the artifact or the device keep their type,
  /// because their message alone may say little.
  static String reason(Throwable e) {
    return switch (e) {
      case ExecutionException wrapped -> reason(wrapped.getCause());
      case LoadException hook -> saysWhy(hook.getCause()) ? hook.getCause().getMessage() : hook.getMessage();
      case Throwable known when saysWhy(known) -> known.getMessage();
      default -> "the model could not be loaded%s: %s".formatted(HookPlace.of(e), e);
    };
  }

  private static boolean saysWhy(Throwable e) {
    return e instanceof StartException
        || e instanceof ModelArtifactException
        || e instanceof DeviceException
        || e instanceof EngineException;
  }
}
