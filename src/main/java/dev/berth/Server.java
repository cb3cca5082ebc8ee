package dev.berth;

import dev.berth.artifact.ModelArtifact;
import dev.berth.artifact.ModelArtifactException;
import dev.berth.artifact.Target;
import dev.berth.batching.BatchLimits;
import dev.berth.config.ServerConfig;
import dev.berth.hooks.Accelerator;
import dev.berth.hooks.InferenceHandler;
import dev.berth.http.HttpServer;
import dev.berth.metrics.ServingMetrics;
import dev.berth.model.HandlerFactory;
import dev.berth.model.HookPermits;
import dev.berth.model.PayloadMemory;
import dev.berth.model.ServedModel;
import dev.berth.qa.QuestionAnsweringHandler;
import dev.berth.torch.DeviceException;
import dev.berth.torch.Devices;
import dev.berth.torch.Machine;
import dev.berth.torch.TorchException;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.stream.IntStream;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// Puts the server together, starts it in order and stops it in reverse: the listener first, so that `/ping` can say
/// 503 while the model loads; then the model.
public final class Server implements AutoCloseable {

  private static final Logger log = LoggerFactory.getLogger(Server.class);

  private final ServerConfig config;
  private final ServingMetrics metrics = new ServingMetrics();
  private final ServedModel model =
      new ServedModel("model", HookPermits.forThisJvm(), PayloadMemory.forThisJvm(), metrics);
  private final HttpServer http;
  private final CompletableFuture<Void> ready = new CompletableFuture<>();

  /// Starts to listen and to load the model of the artifact with its built-in handler.
  public static Server start(ServerConfig config) {
    return start(config, null);
  }

  /// The same with hooks of one's own.
  public static Server start(ServerConfig config, HandlerFactory handlers) {
    var server = new Server(config);
    if (config.model().multiModel()) {
      server.model.refuse("a server for a multi-model endpoint (SAGEMAKER_MULTI_MODEL=true) has no model of its own");
      server.ready.complete(null);
      return server;
    }
    Thread.ofPlatform().name("berth-loader").daemon().start(() -> server.load(handlers));
    return server;
  }

  private Server(ServerConfig config) {
    this.config = config;
    this.http = HttpServer.start(config, model, metrics);
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

  private void load(HandlerFactory handlers) {
    try {
      var devices = Devices.choose(config.model().instanceType(), Machine.current());
      log.info("accelerators: {} ({})", devices.accelerators(), devices.origin());
      var workers = workers(devices);
      var limits = limits(devices);
      HandlerFactory factory = handlers == null ? directory -> builtIn(directory, devices) : handlers;
      model.load(config.model().directory(), factory, workers, limits);
      log.info("ready: {} workers, each on {}", workers.size(), limits);
      ready.complete(null);
    } catch (Throwable e) {
      ready.completeExceptionally(e);
    }
  }

  private static InferenceHandler<?, ?, ?> builtIn(Path directory, Devices devices) {
    var artifact = ModelArtifact.open(directory);
    if (!devices.target().runs(artifact.target())) {
      throw new DeviceException(
          "model artifact %s is traced for %2$s, and this server uses %3$s (%4$s); "
              .concat("trace it with --target %3$s, or set INSTANCE_TYPE=%2$s")
              .formatted(directory, artifact.target(), devices.target(), devices.origin()));
    }
    log.info("model artifact: {}, {} for {}, traced with torch {}, provenance {}",
        artifact.task(), artifact.precision(), artifact.target(), artifact.torch(), artifact.provenance());
    return switch (artifact.task()) {
      case "question-answering" -> new QuestionAnsweringHandler(artifact);
      default -> throw new ModelArtifactException(directory, List.of(
          "model.json: task: found \"%s\", expected \"question-answering\"".formatted(artifact.task())));
    };
  }

  /// One accelerator for each worker, in turn where there are more workers than accelerators.
  private List<Accelerator> workers(Devices devices) {
    var accelerators = devices.accelerators();
    int otherwise = devices.target() == Target.CPU ? Runtime.getRuntime().availableProcessors() : accelerators.size();
    return IntStream.range(0, config.model().workers().orElse(otherwise))
        .mapToObj(worker -> accelerators.get(worker % accelerators.size()))
        .toList();
  }

  /// A CPU gains nothing from batches, and more workers share the records when each takes one; other devices live on
  /// them.
  private BatchLimits limits(Devices devices) {
    boolean cpu = devices.target() == Target.CPU;
    var batching = config.batching();
    return new BatchLimits(
        batching.maxBatchSize().orElse(cpu ? 1 : 32),
        batching.maxBatchTokens().orElse(cpu ? Integer.MAX_VALUE : 16_384),
        batching.maxBatchDelay(),
        batching.queueCapacity());
  }

  /// What to tell whoever starts the server. Exceptions that are not about the artifact or the device keep their type,
  /// because their message alone may say little.
  private static String reason(Throwable e) {
    return switch (e) {
      case ExecutionException wrapped -> reason(wrapped.getCause());
      case ModelArtifactException known -> known.getMessage();
      case DeviceException known -> known.getMessage();
      case TorchException known -> known.getMessage();
      default -> "the model could not be loaded: " + e;
    };
  }
}
