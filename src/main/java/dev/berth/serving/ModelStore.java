package dev.berth.serving;

import dev.berth.error.ErrorType;
import dev.berth.error.ServingException;
import dev.berth.memory.NativeHeap;
import dev.berth.metrics.ServingMetrics;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/// Loads models into the process and unloads them while others serve: what the routes of a multi-model endpoint do. May be
/// used by any thread; only [#load] and [#unload] take long.
public final class ModelStore {

  /// Loads an artifact. Runs on a platform thread of its own.
  public interface Loader {

    /// @throws ServingException when the artifact is wrong or does not fit
    /// @throws Exception whatever its hooks throw
    void load(ServedModel model, Path directory) throws Exception;
  }

  /// A model that can serve.
  ///
  /// @param name an opaque key
  /// @param directory where its artifact is
  public record Entry(String name, Path directory) {}

  private final ModelRegistry registry;
  private final HookPool hooks;
  private final ServingMetrics metrics;
  private final Loader loader;
  private final Duration loadTimeout;
  private final Duration drain;
  /// Only of models that can serve.
  private final Map<String, Entry> loaded = new ConcurrentHashMap<>();

  /// @param loadTimeout how long a load may take
  /// @param drain how long requests of a model may still run that is unloaded
  public ModelStore(
      ModelRegistry registry, HookPool hooks, ServingMetrics metrics, Loader loader, Duration loadTimeout, Duration drain) {
    this.registry = registry;
    this.hooks = hooks;
    this.metrics = metrics;
    this.loader = loader;
    this.loadTimeout = loadTimeout;
    this.drain = drain;
  }

  /// Loads a model and returns when it is warm.
  ///
  /// @throws ServingException `CONFLICT`, `NOT_FOUND`, `BAD_INPUT`, `INSUFFICIENT_MEMORY`, `DEADLINE_EXCEEDED`, `INTERNAL`
  public void load(String name, Path directory) throws InterruptedException {
    if (!Files.isDirectory(directory)) {
      throw new ServingException(ErrorType.NOT_FOUND, "url: found %s, expected the directory of a model artifact".formatted(directory));
    }
    var model = new ServedModel(name, hooks, metrics);
    if (!registry.addIfAbsent(model)) {
      throw new ServingException(ErrorType.CONFLICT, "model %s is already loaded, or is being loaded or unloaded".formatted(name));
    }
    var done = new CompletableFuture<Void>();
    var thread = Thread.ofPlatform().name("berth-loader").daemon().inheritInheritableThreadLocals(false)
        .start(() -> load(model, directory, done));
    try {
      done.get(loadTimeout.toNanos(), TimeUnit.NANOSECONDS);
    } catch (TimeoutException e) {
      thread.interrupt();
      throw new ServingException(ErrorType.DEADLINE_EXCEEDED,
          "model %s was not loaded within %d s".formatted(name, loadTimeout.toSeconds()), e);
    } catch (ExecutionException e) {
      throw e.getCause() instanceof ServingException known
          ? known
          : new ServingException(ErrorType.INTERNAL, "model %s could not be loaded: %s".formatted(name, e.getCause().getMessage()), e.getCause());
    }
  }

  private void load(ServedModel model, Path directory, CompletableFuture<Void> done) {
    try {
      loader.load(model, directory);
      loaded.put(model.name(), new Entry(model.name(), directory));
      done.complete(null);
    } catch (Throwable e) {
      metrics.caught(e);
      registry.remove(model);
      done.completeExceptionally(e);
    }
  }

  /// Waits for the requests that run, frees the model, and returns when it is gone.
  ///
  /// @throws ServingException `NOT_FOUND` when it is not loaded
  public void unload(String name) throws Exception {
    if (loaded.remove(name) == null) {
      throw unknown(name);
    }
    var model = registry.find(name).orElseThrow(() -> unknown(name));
    try {
      model.close(drain);
    } finally {
      // Who unloads a model wants its memory back now. glibc keeps much of what is freed otherwise.
      NativeHeap.trim();
      registry.remove(model);
    }
  }

  /// The model that a request is for.
  ///
  /// @throws ServingException `NOT_FOUND` when it is not loaded
  public ServedModel find(String name) {
    return Optional.ofNullable(loaded.get(name)).flatMap(_ -> registry.find(name)).orElseThrow(() -> unknown(name));
  }

  /// @throws ServingException `NOT_FOUND` when it is not loaded
  public Entry describe(String name) {
    return Optional.ofNullable(loaded.get(name)).orElseThrow(() -> unknown(name));
  }

  /// Those that can serve, by their names.
  public List<Entry> list() {
    return loaded.values().stream().sorted(Comparator.comparing(Entry::name)).toList();
  }

  private static ServingException unknown(String name) {
    return new ServingException(ErrorType.NOT_FOUND, "model %s is not loaded".formatted(name));
  }
}
