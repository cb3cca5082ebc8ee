package dev.berth.serving;

import dev.berth.error.ErrorType;
import dev.berth.error.ServingException;
import dev.berth.memory.NativeHeap;
import dev.berth.metrics.ModelMetrics;
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
import java.util.concurrent.atomic.AtomicReference;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.slf4j.MDC;

/// Loads models into the process and unloads them while others serve: what the routes of a multi-model endpoint do. May be
/// used by any thread; only [#load] and [#unload] take long.
///
/// Each load and each unload runs on a thread of its own, and goes on when its caller does not wait any more. A name is taken
/// from the beginning of its load until the model is gone.
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

  /// What a model is doing, as messages say it.
  private enum State {
    LOADING("is being loaded"),
    /// Nobody waits for the load any more, and what it loads is freed at once.
    LATE("is being loaded, although its time is over"),
    READY("is loaded already"),
    UNLOADING("is being unloaded");

    private final String text;

    State(String text) {
      this.text = text;
    }
  }

  /// A name that is taken.
  private static final class Slot {

    private final Entry entry;
    private final ServedModel model;
    private final AtomicReference<State> state = new AtomicReference<>(State.LOADING);
    private final CompletableFuture<Void> loaded = new CompletableFuture<>();
    /// Whether nothing of it was left open.
    private final CompletableFuture<Boolean> unloaded = new CompletableFuture<>();
    /// Set before anyone else sees the slot.
    private Thread loader;

    private Slot(Entry entry, ServedModel model) {
      this.entry = entry;
      this.model = model;
    }

    private boolean isReady() {
      return state.get() == State.READY;
    }
  }

  private static final Logger log = LoggerFactory.getLogger(ModelStore.class);

  private final ModelRegistry registry;
  private final HookPool hooks;
  private final ServingMetrics metrics;
  private final Loader loader;
  private final Duration patience;
  private final Duration drain;
  private final Map<String, Slot> slots = new ConcurrentHashMap<>();
  private volatile boolean stopped;

  /// @param patience how long callers wait for a load or an unload
  /// @param drain how long requests of a model may still run that is unloaded
  public ModelStore(
      ModelRegistry registry, HookPool hooks, ServingMetrics metrics, Loader loader, Duration patience, Duration drain) {
    this.registry = registry;
    this.hooks = hooks;
    this.metrics = metrics;
    this.loader = loader;
    this.patience = patience;
    this.drain = drain;
  }

  /// Loads a model and returns when it is warm.
  ///
  /// @throws ServingException `CONFLICT`, `NOT_FOUND`, `BAD_INPUT`, `INSUFFICIENT_MEMORY`, `DEADLINE_EXCEEDED`, `NOT_READY`,
  ///     `INTERNAL`
  public Entry load(String name, Path directory) throws InterruptedException {
    requireDirectory(directory);
    var slot = new Slot(new Entry(name, directory), new ServedModel(name, hooks, metrics));
    slot.loader = thread("berth-loader", () -> load(slot));
    var other = slots.putIfAbsent(name, slot);
    if (other != null) {
      throw new ServingException(ErrorType.CONFLICT, "model \"%s\" %s".formatted(name, other.state.get().text));
    }
    registry.add(slot.model);
    try {
      if (stopped) {
        throw stopping();
      }
      slot.loader.start();
    } catch (Throwable e) {
      free(slot);
      throw e;
    }
    return awaitLoaded(slot);
  }

  private Entry awaitLoaded(Slot slot) throws InterruptedException {
    try {
      slot.loaded.get(patience.toNanos(), TimeUnit.NANOSECONDS);
    } catch (TimeoutException e) {
      if (slot.state.compareAndSet(State.LOADING, State.LATE)) {
        slot.loader.interrupt();
        throw new ServingException(ErrorType.DEADLINE_EXCEEDED,
            "model \"%s\" was not loaded within %d s; its name is free again when the load has ended"
                .formatted(slot.entry.name, patience.toSeconds()), e);
      }
      // It has become ready at this very moment.
    } catch (ExecutionException e) {
      throw e.getCause() instanceof ServingException known
          ? known
          : new ServingException(
              ErrorType.INTERNAL, "model \"%s\" could not be loaded: %s".formatted(slot.entry.name, e.getCause()), e.getCause());
    }
    return slot.entry;
  }

  /// Runs on the slot's own thread.
  private void load(Slot slot) {
    var entry = slot.entry;
    MDC.put(ModelMetrics.LABEL, entry.name);
    // Whoever is served already has the cores first.
    ThreadPriority.lower();
    long start = System.nanoTime();
    try {
      loader.load(slot.model, entry.directory);
      if (slot.state.compareAndSet(State.LOADING, State.READY)) {
        log.info("model \"{}\" is loaded from {}, in {} ms",
            entry.name, entry.directory, TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - start));
        slot.loaded.complete(null);
      } else {
        slot.model.close(Duration.ZERO);
        free(slot);
        log.warn("model \"{}\" was loaded when nobody waited for it any more; it is freed again", entry.name);
      }
    } catch (Throwable e) {
      for (var thrown = e; thrown != null; thrown = thrown.getCause()) {
        metrics.caught(thrown);
      }
      slot.model.loadFailed(e);
      free(slot);
      log.warn("model \"{}\" could not be loaded from {}: {}", entry.name, entry.directory, e.getMessage());
      slot.loaded.completeExceptionally(e);
    }
  }

  /// Waits for the requests that run, frees the model, and returns when it is gone.
  ///
  /// @throws ServingException `NOT_FOUND` when it is not loaded, `INTERNAL` when its hooks do not end or fail,
  ///     `DEADLINE_EXCEEDED`
  public Entry unload(String name) throws InterruptedException {
    var slot = slot(name);
    if (!slot.state.compareAndSet(State.READY, State.UNLOADING)) {
      throw unknown(name);
    }
    try {
      thread("berth-unloader", () -> unload(slot)).start();
    } catch (Throwable e) {
      slot.state.set(State.READY);
      throw e;
    }
    return awaitUnloaded(slot);
  }

  private Entry awaitUnloaded(Slot slot) throws InterruptedException {
    var name = slot.entry.name;
    try {
      if (!slot.unloaded.get(patience.toNanos(), TimeUnit.NANOSECONDS)) {
        throw new ServingException(ErrorType.INTERNAL,
            "model \"%s\" is unloaded, but one of its hooks does not end, and what that uses is not freed".formatted(name));
      }
      return slot.entry;
    } catch (TimeoutException e) {
      throw new ServingException(ErrorType.DEADLINE_EXCEEDED,
          "model \"%s\" was not unloaded within %d s; that goes on".formatted(name, patience.toSeconds()), e);
    } catch (ExecutionException e) {
      throw new ServingException(
          ErrorType.INTERNAL, "model \"%s\" is unloaded, but its hooks could not be closed".formatted(name), e.getCause());
    }
  }

  private void unload(Slot slot) {
    MDC.put(ModelMetrics.LABEL, slot.entry.name);
    try {
      boolean freed = slot.model.unload(drain);
      // Who unloads a model wants its memory back now. glibc keeps much of what is freed otherwise.
      NativeHeap.trim();
      free(slot);
      log.info("model \"{}\" is unloaded", slot.entry.name);
      slot.unloaded.complete(freed);
    } catch (Throwable e) {
      metrics.caught(e);
      free(slot);
      slot.unloaded.completeExceptionally(e);
    }
  }

  /// Takes a request for a model in, as [ServedModel#enter()] does.
  ///
  /// @throws ServingException `NOT_FOUND` when it is not loaded
  public ServedModel.Visit enter(String name) {
    var slot = ready(name);
    try {
      return slot.model.enter();
    } catch (ServingException e) {
      throw slot.isReady() ? e : unknown(name);
    }
  }

  /// @throws ServingException `NOT_FOUND` when it is not loaded
  public Entry describe(String name) {
    return ready(name).entry;
  }

  /// Why a model that is loaded can't serve; nothing where it can.
  ///
  /// @throws ServingException `NOT_FOUND` when it is not loaded
  public Optional<String> problem(String name) {
    return ready(name).model.problem();
  }

  /// Those that can serve, by their names.
  public List<Entry> list() {
    return slots.values().stream()
        .filter(Slot::isReady)
        .map(slot -> slot.entry)
        .sorted(Comparator.comparing(Entry::name))
        .toList();
  }

  /// Refuses loads from now on, and those that are not done. The registry closes the models.
  public void stop() {
    stopped = true;
    for (var slot : slots.values()) {
      if (slot.state.compareAndSet(State.LOADING, State.LATE)) {
        slot.loader.interrupt();
        slot.loaded.completeExceptionally(stopping());
      }
    }
  }

  private void free(Slot slot) {
    registry.remove(slot.model);
    slots.remove(slot.entry.name, slot);
  }

  private Slot slot(String name) {
    return Optional.ofNullable(slots.get(name)).orElseThrow(() -> unknown(name));
  }

  private Slot ready(String name) {
    return Optional.of(slot(name)).filter(Slot::isReady).orElseThrow(() -> unknown(name));
  }

  private ServingException unknown(String name) {
    var slot = slots.get(name);
    return new ServingException(ErrorType.NOT_FOUND,
        "model \"%s\" %s".formatted(name, slot == null || slot.isReady() ? "is not loaded" : slot.state.get().text));
  }

  private static ServingException stopping() {
    return new ServingException(ErrorType.NOT_READY, "the server is stopping");
  }

  private static void requireDirectory(Path directory) {
    if (!Files.exists(directory)) {
      throw new ServingException(ErrorType.NOT_FOUND,
          "url: found nothing at %s, expected the directory of a model artifact".formatted(directory));
    }
    if (!Files.isDirectory(directory)) {
      throw new ServingException(ErrorType.BAD_INPUT,
          "url: found a file at %s, expected the directory of a model artifact".formatted(directory));
    }
  }

  private static Thread thread(String name, Runnable run) {
    return Thread.ofPlatform().name(name).daemon().inheritInheritableThreadLocals(false).unstarted(run);
  }
}
