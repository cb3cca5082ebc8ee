package dev.berth.serving.many;

import dev.berth.artifact.code.Thrown;
import dev.berth.batching.ThreadPriority;
import dev.berth.error.ErrorType;
import dev.berth.error.ServingException;
import dev.berth.memory.NativeHeap;
import dev.berth.metrics.ModelMetrics;
import dev.berth.metrics.ServingMetrics;
import dev.berth.serving.ServedModel;
import dev.berth.serving.hooks.HookThreads;
import dev.berth.serving.many.ModelVersion.Artifact;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executors;
import java.util.concurrent.FutureTask;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Consumer;
import java.util.stream.Stream;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.slf4j.MDC;

/// Loads models into the process and unloads them while others serve. May be used by any thread.
///
/// Each load and each unload runs on a thread of its own, and goes on when its caller does not wait
/// any more. A name is taken from the beginning of its load until the model is gone.
///
/// [#LOADS] run at a time, and the others wait for their turn. One that is given up, or takes
/// longer than [#TURN], leaves its turn to the next: a constructor that never ends keeps nobody
/// waiting.
public final class ModelStore {

    /// Loads an artifact. Runs on a platform thread of its own.
    public interface Loader {

        /// @param others the store whose idle models may make way; empty: none may
        /// @throws ServingException when the artifact is wrong or does not fit
        /// @throws Exception anything that its hooks throw
        void load(ServedModel model, Path directory, Optional<ModelStore> others) throws Exception;
    }

    private static final Logger log = LoggerFactory.getLogger(ModelStore.class);

    /// The compiler takes a core and 20 to 50 MB of the heap.
    static final int LOADS = (int) Math.max(
            2,
            Math.min(
                    Runtime.getRuntime().availableProcessors(),
                    Runtime.getRuntime().maxMemory() >> 26));

    /// More than one that compiles its hooks needs. A large model may need minutes, but few of those
    /// have room beside each other.
    private static final Duration TURN = Duration.ofSeconds(20);

    /// Loads beyond these are refused at once, as each has a thread.
    static final int MOST = LOADS + 100;

    private final Semaphore turns = new Semaphore(LOADS, true);
    private final HookThreads hooks;
    private final ServingMetrics metrics;
    private final Loader loader;
    private final Duration patience;
    private final Duration drain;

    /// Those that hold a name, by it.
    private final Map<String, ModelVersion> named = new ConcurrentHashMap<>();

    /// All that are not gone, with or without a name.
    private final Set<ModelVersion> versions = ConcurrentHashMap.newKeySet();

    private volatile boolean stopped;

    /// @param patience how long a load or an unload may take
    /// @param drain how long requests of a model may still run that is unloaded
    public ModelStore(HookThreads hooks, ServingMetrics metrics, Loader loader, Duration patience, Duration drain) {
        this.hooks = hooks;
        this.metrics = metrics;
        this.loader = loader;
        this.patience = patience;
        this.drain = drain;
    }

    /// Begins to load what is there now.
    ///
    /// @param evicts whether idle models make way for it
    /// @param before a version that serves: the new one takes its place when it is warm, and requests end
    ///   there. If it is gone by then, the new one goes too
    /// @throws ServingException `CONFLICT` when the name is taken, `TOO_MANY_LOADS` when too many
    ///   wait, `NOT_READY` when the server stops
    ModelVersion begin(Artifact artifact, boolean evicts, Optional<ModelVersion> before) {
        var name = artifact.name;
        var version = new ModelVersion(artifact, evicts, new ServedModel(name, hooks, metrics), before);
        version.loader = thread("berth-loader", () -> load(version));
        version.unload = new FutureTask<>(() -> unload(version));
        var other = before.isPresent() ? null : named.putIfAbsent(name, version);
        if (other != null) {
            throw ErrorType.CONFLICT.because("model \"%s\" %s".formatted(name, other.state().text));
        }
        versions.add(version);
        try {
            if (stopped) {
                throw stopping();
            }
            if (versions.stream().filter(one -> one.loader.isAlive()).count() >= MOST) {
                throw ErrorType.TOO_MANY_LOADS.because(
                        "%d models are being loaded or wait for that; try again later".formatted(MOST));
            }
            version.loader.start();
        } catch (Throwable e) {
            free(version);
            // Others may have joined it.
            version.loaded.completeExceptionally(failure(version, e));
            throw e;
        }
        artifact.last = Optional.of(version);
        whenLoadedOrAfter(patience, version, e -> {
            if (e instanceof TimeoutException) {
                giveUp(
                        version,
                        ErrorType.DEADLINE_EXCEEDED.because(
                                "model \"%s\" was not loaded within %d s; its name is free again when the load has ended"
                                        .formatted(name, patience.toSeconds()),
                                e));
            }
        });
        return version;
    }

    private static void whenLoadedOrAfter(Duration time, ModelVersion version, Consumer<Throwable> then) {
        var _ = version.loaded
                .copy()
                .orTimeout(time.toNanos(), TimeUnit.NANOSECONDS)
                .whenComplete((_, e) -> then.accept(e));
    }

    private static void giveUp(ModelVersion version, ServingException why) {
        if (version.loaded.completeExceptionally(why)) {
            version.failure = Optional.of(why);
            version.loader.interrupt();
        }
    }

    private static ServingException failure(ModelVersion version, Throwable e) {
        return e instanceof ServingException known
                ? known
                : ErrorType.INTERNAL.because("model \"%s\" could not be loaded: %s".formatted(version.name(), e), e);
    }

    /// Runs on the version's own thread.
    private void load(ModelVersion version) {
        var name = version.name();
        var directory = version.artifact.directory;
        MDC.put(ModelMetrics.LABEL, name);
        // Models that serve already have the cores first.
        ThreadPriority.lower();
        try {
            takeTurn(version);
            long start = System.nanoTime();
            loader.load(version.model, directory, Optional.of(this).filter(_ -> version.evicts));
            if (version.loaded.complete(null)) {
                takePlace(version);
                log.info(
                        "model \"{}\" is loaded from {}, in {} ms",
                        name,
                        directory,
                        TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - start));
            } else {
                version.model.close(Duration.ZERO);
                log.warn("model \"{}\" was loaded when nobody waited for it any more; it is freed again", name);
                free(version);
            }
        } catch (Throwable e) {
            Thrown.chain(e).forEach(metrics::caught);
            version.model.loadFailed(e);
            var why = failure(version, e);
            version.failure = Optional.of(why);
            log.warn("model \"{}\" could not be loaded from {}:", name, directory);
            // Line by line, so that the compiler's caret stands below what it points at.
            why.getMessage()
                    .replace("model \"%s\" could not be loaded: ".formatted(name), "")
                    .replace("model artifact %s: ".formatted(directory), "")
                    .lines()
                    .forEach(log::warn);
            version.before
                    .filter(ModelVersion::isReady)
                    .ifPresent(_ -> log.warn("model \"{}\": the version before serves on", name));
            free(version);
            version.loaded.completeExceptionally(why);
        }
    }

    private void takeTurn(ModelVersion version) {
        try {
            turns.acquire();
        } catch (InterruptedException e) {
            throw ErrorType.NOT_READY.because("it was given up while other loads went before it", e);
        }
        whenLoadedOrAfter(TURN, version, _ -> turns.release());
    }

    /// From one moment to the next, requests go to the new version.
    private void takePlace(ModelVersion version) throws Exception {
        if (version.before.isEmpty()) {
            return;
        }
        var before = version.before.get();
        // Or each version would keep all that were there before it.
        version.before = Optional.empty();
        // The caller that unloads it was first, and keeps the name until it is gone.
        if (!before.model.refuseNew()) {
            version.model.close(Duration.ZERO);
            throw ErrorType.CONFLICT.because(
                    "model \"%s\" was unloaded while another version of it was being loaded".formatted(version.name()));
        }
        named.replace(version.name(), before, version);
        before.left.complete(null);
        unloadAside(before);
    }

    /// Unloads a model that has refused new requests, on a thread of its own where there is memory for
    /// one.
    private void unloadAside(ModelVersion version) {
        try {
            thread("berth-unloader", version.unload).start();
        } catch (OutOfMemoryError e) {
            metrics.caught(e);
            version.unload.run();
        }
    }

    /// Begins to unload a model; false: it is not loaded, or somebody else unloads it.
    boolean beginUnload(ModelVersion version) {
        boolean begins = version.isReady() && version.model.refuseNew();
        if (begins) {
            unloadAside(version);
        }
        return begins;
    }

    /// Models that may make way for another one: the idle ones of a directory. The first has not been used
    /// for longest. Those of `POST /models` can't come back by themselves, so they stay.
    List<ModelVersion> evictableFor(ServedModel model) {
        return named().filter(version -> version.isReady() && version.files.isPresent() && version.model.isIdle())
                .filter(version -> !version.name().equals(model.name()))
                .sorted(Comparator.comparingLong(version -> version.model.lastUsed()))
                .toList();
    }

    /// Unloads a model that is idle, so that there is room for another one; false: it is in use, or
    /// being unloaded.
    boolean evict(ModelVersion version) throws InterruptedException {
        if (!version.model.refuseNewIfIdle()) {
            return false;
        }
        metrics.evictions.increment();
        log.info("model \"{}\" makes way, because it has not been used for longest", version.name());
        unloadAside(version);
        try {
            awaitUnloaded(version);
        } catch (ServingException e) {
            log.warn("{}", e.getMessage());
        }
        return true;
    }

    void awaitUnloaded(ModelVersion version) throws InterruptedException {
        var name = version.name();
        try {
            if (!version.unload.get(patience.toNanos(), TimeUnit.NANOSECONDS)) {
                throw ErrorType.INTERNAL.because(
                        "model \"%s\" is unloaded, but one of its hooks does not end; what that uses is freed when it does"
                                .formatted(name));
            }
        } catch (TimeoutException e) {
            throw ErrorType.DEADLINE_EXCEEDED.because(
                    "model \"%s\" was not unloaded within %d s; that goes on".formatted(name, patience.toSeconds()), e);
        } catch (ExecutionException e) {
            throw ErrorType.INTERNAL.because(
                    "model \"%s\" is unloaded, but its hooks could not be closed".formatted(name), e.getCause());
        }
    }

    private boolean unload(ModelVersion version) throws Exception {
        MDC.put(ModelMetrics.LABEL, version.name());
        try {
            boolean freed = version.model.close(drain);
            // Who unloads a model wants its memory back now. glibc keeps much of what is freed otherwise.
            NativeHeap.trim();
            log.info(
                    "model \"{}\" is unloaded{}",
                    version.name(),
                    version.left.isDone() ? ", as a newer version is there" : "");
            return freed;
        } finally {
            free(version);
        }
    }

    private void free(ModelVersion version) {
        versions.remove(version);
        named.remove(version.name(), version);
        version.left.complete(null);
    }

    /// The version that holds a name, whatever it is doing.
    Optional<ModelVersion> find(String name) {
        return Optional.ofNullable(named.get(name));
    }

    /// Those that hold a name.
    Stream<ModelVersion> named() {
        return named.values().stream();
    }

    /// All that hold something, with every version of each.
    List<ServedModel> all() {
        return versions.stream().map(version -> version.model).toList();
    }

    /// Refuses loads from now on, and those that are not done. Closes all models at the same time, each on
    /// a thread of its own.
    void close(Duration time) throws Exception {
        stopped = true;
        versions.forEach(version -> giveUp(version, stopping()));
        var closings = all().stream()
                .<Callable<Boolean>>map(model -> () -> model.close(time))
                .toList();
        var factory = Thread.ofPlatform().name("berth-unloader").daemon().factory();
        try (var threads = Executors.newThreadPerTaskExecutor(factory)) {
            for (var closing : threads.invokeAll(closings)) {
                closing.get();
            }
        }
    }

    boolean isStopped() {
        return stopped;
    }

    static ServingException stopping() {
        return ErrorType.NOT_READY.because("the server is stopping");
    }

    private static Thread thread(String name, Runnable run) {
        return Thread.ofPlatform()
                .name(name)
                .daemon()
                .inheritInheritableThreadLocals(false)
                .unstarted(run);
    }
}
