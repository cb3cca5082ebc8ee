package dev.berth.serving.many;

import dev.berth.error.ErrorType;
import dev.berth.error.ServingException;
import dev.berth.memory.NativeHeap;
import dev.berth.metrics.ModelMetrics;
import dev.berth.metrics.ServingMetrics;
import dev.berth.serving.ServedModel;
import dev.berth.serving.ThreadPriority;
import dev.berth.serving.hooks.Deadline;
import dev.berth.serving.hooks.HookPool;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;
import java.util.stream.Stream;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.slf4j.MDC;

/// Loads models into the process and unloads them while others serve: what the routes of a
/// multi-model endpoint do. May be used by any thread; only [#load] and [#unload] take long.
///
/// Each load and each unload runs on a thread of its own, and goes on when its caller does not wait
/// any more. A name is taken from the beginning of its load until the model is gone.
///
/// [#LOADS] run at a time, and the others wait for their turn. One that is given up, or takes
/// longer than [#TURN], leaves its turn to the next: a constructor that never ends keeps nobody
/// waiting.
public final class ModelStore implements ManyModels {

    /// Loads an artifact. Runs on a platform thread of its own.
    public interface Loader {

        /// @param eviction models that may make way
        /// @throws ServingException when the artifact is wrong or does not fit
        /// @throws Exception anything that its hooks throw
        void load(ServedModel model, Path directory, Eviction eviction) throws Exception;
    }

    /// What is to be loaded.
    ///
    /// @param version of the artifact; the store only keeps it
    /// @param eviction models that may make way
    /// @param failed told why it could not be loaded, before those that wait for it are
    record Order(
            String name,
            Path directory,
            Optional<ArtifactFiles> version,
            Eviction eviction,
            Consumer<ServingException> failed) {}

    /// What a model is doing, as messages say it.
    enum State {
        LOADING("is being loaded"),
        /// Its time to load is over, and what it loads is freed at once.
        LATE("is being loaded, although its time is over"),
        READY("is loaded already"),
        UNLOADING("is being unloaded");

        final String text;

        State(String text) {
            this.text = text;
        }
    }

    /// A model that holds a name, or a version of it that is being loaded beside the one that does.
    static final class Slot {

        final Order order;
        final ServedModel model;

        /// The version that it takes the place of, until it has. Only for the loader.
        private Optional<Slot> before;

        final AtomicReference<State> state = new AtomicReference<>(State.LOADING);
        final CompletableFuture<Void> loaded = new CompletableFuture<>();

        /// Whether nothing of it was left open.
        private final CompletableFuture<Boolean> unloaded = new CompletableFuture<>();

        /// When its name is free, or another version has it.
        final CompletableFuture<Void> left = new CompletableFuture<>();

        /// Set before anyone else sees the slot.
        Thread loader;

        private Slot(Order order, ServedModel model, Optional<Slot> before) {
            this.order = order;
            this.model = model;
            this.before = before;
        }

        String name() {
            return order.name;
        }

        boolean isReady() {
            return state.get() == State.READY;
        }

        private Entry entry(Optional<String> problem) {
            return new Entry(order.name, order.directory, Optional.empty(), problem);
        }
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
    private final ModelRegistry registry;
    private final HookPool hooks;
    private final ServingMetrics metrics;
    private final Loader loader;
    private final Duration patience;
    private final Duration drain;
    private final Map<String, Slot> slots = new ConcurrentHashMap<>();

    /// Those whose load has not ended, with or without the name.
    private final Set<Slot> loading = ConcurrentHashMap.newKeySet();

    private volatile boolean stopped;

    /// @param patience how long a load or an unload may take
    /// @param drain how long requests of a model may still run that is unloaded
    public ModelStore(
            ModelRegistry registry,
            HookPool hooks,
            ServingMetrics metrics,
            Loader loader,
            Duration patience,
            Duration drain) {
        this.registry = registry;
        this.hooks = hooks;
        this.metrics = metrics;
        this.loader = loader;
        this.patience = patience;
        this.drain = drain;
    }

    @Override
    public Entry load(String name, Path directory) throws InterruptedException {
        return load(name, directory, Eviction.NONE);
    }

    /// The same, while others may make way.
    Entry load(String name, Path directory, Eviction eviction) throws InterruptedException {
        requireDirectory(directory);
        return awaitLoaded(begin(new Order(name, directory, Optional.empty(), eviction, _ -> {})));
    }

    /// Begins to load a model.
    ///
    /// @throws ServingException `CONFLICT` when the name is taken, `TOO_MANY_LOADS` when too many
    ///   wait, `NOT_READY` when the server stops
    Slot begin(Order order) {
        var slot = slot(order, Optional.empty());
        var other = slots.putIfAbsent(order.name, slot);
        if (other != null) {
            throw ErrorType.CONFLICT.because("model \"%s\" %s".formatted(order.name, other.state.get().text));
        }
        start(slot);
        return slot;
    }

    /// Begins to load another version of a model. When that is warm it takes the place of the first,
    /// whose requests end there. If the first is gone by then, the other one goes too.
    Slot beginBeside(Slot before, Order order) {
        var slot = slot(order, Optional.of(before));
        start(slot);
        return slot;
    }

    private Slot slot(Order order, Optional<Slot> before) {
        var slot = new Slot(order, new ServedModel(order.name, hooks, metrics), before);
        slot.loader = thread("berth-loader", () -> load(slot));
        return slot;
    }

    private void start(Slot slot) {
        registry.add(slot.model);
        loading.add(slot);
        try {
            if (stopped) {
                throw stopping();
            }
            if (loading.size() > MOST) {
                throw ErrorType.TOO_MANY_LOADS.because(
                        "%d models are being loaded or wait for that; try again later".formatted(MOST));
            }
            slot.loader.start();
        } catch (Throwable e) {
            loading.remove(slot);
            free(slot);
            // Others may have joined it.
            slot.loaded.completeExceptionally(e);
            throw e;
        }
        // What comes of it is told to those that wait for the load.
        var _ = slot.loaded
                .copy()
                .orTimeout(patience.toNanos(), TimeUnit.NANOSECONDS)
                .whenComplete((_, e) -> {
                    if (e instanceof TimeoutException) {
                        giveUp(
                                slot,
                                ErrorType.DEADLINE_EXCEEDED.because(
                                        "model \"%s\" was not loaded within %d s; its name is free again when the load has ended"
                                                .formatted(slot.name(), patience.toSeconds()),
                                        e));
                    }
                });
    }

    private static void giveUp(Slot slot, ServingException why) {
        if (slot.state.compareAndSet(State.LOADING, State.LATE)) {
            slot.loader.interrupt();
            slot.order.failed.accept(why);
            slot.loaded.completeExceptionally(why);
        }
    }

    /// Gives up a load whose files have changed meanwhile.
    void abandon(Slot slot) {
        giveUp(
                slot,
                ErrorType.NOT_READY.because(
                        "model \"%s\" has changed again while it was being loaded".formatted(slot.name())));
    }

    /// Waits until a load has ended. That takes no longer than it may.
    Entry awaitLoaded(Slot slot) throws InterruptedException {
        try {
            slot.loaded.get();
            return slot.entry(slot.model.problem());
        } catch (ExecutionException e) {
            throw failure(slot, e.getCause());
        }
    }

    static ServingException failure(Slot slot, Throwable e) {
        return e instanceof ServingException known
                ? known
                : ErrorType.INTERNAL.because("model \"%s\" could not be loaded: %s".formatted(slot.name(), e), e);
    }

    /// Runs on the slot's own thread.
    private void load(Slot slot) {
        MDC.put(ModelMetrics.LABEL, slot.name());
        // Whoever is served already has the cores first.
        ThreadPriority.lower();
        try {
            takeTurn(slot);
            long start = System.nanoTime();
            loader.load(slot.model, slot.order.directory, slot.order.eviction);
            if (slot.state.compareAndSet(State.LOADING, State.READY)) {
                takePlace(slot);
                log.info(
                        "model \"{}\" is loaded from {}, in {} ms",
                        slot.name(),
                        slot.order.directory,
                        TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - start));
                slot.loaded.complete(null);
            } else {
                slot.model.close(Duration.ZERO);
                log.warn("model \"{}\" was loaded when nobody waited for it any more; it is freed again", slot.name());
                free(slot);
            }
        } catch (Throwable e) {
            for (var thrown = e; thrown != null; thrown = thrown.getCause()) {
                metrics.caught(thrown);
            }
            slot.model.loadFailed(e);
            slot.order.failed.accept(failure(slot, e));
            log.warn("model \"{}\" could not be loaded from {}: {}", slot.name(), slot.order.directory, e.getMessage());
            free(slot);
            slot.loaded.completeExceptionally(e);
        } finally {
            loading.remove(slot);
        }
    }

    private void takeTurn(Slot slot) {
        try {
            turns.acquire();
        } catch (InterruptedException e) {
            throw ErrorType.NOT_READY.because("it was given up while other loads went before it", e);
        }
        var _ = slot.loaded
                .copy()
                .orTimeout(TURN.toNanos(), TimeUnit.NANOSECONDS)
                .whenComplete((_, _) -> turns.release());
    }

    /// From one moment to the next, requests go to the new version.
    private void takePlace(Slot slot) throws Exception {
        if (slot.before.isEmpty()) {
            return;
        }
        var before = slot.before.get();
        // Or each version would keep all that were there before it.
        slot.before = Optional.empty();
        // Whoever has it unloaded was first, and keeps the name until it is gone.
        if (!before.state.compareAndSet(State.READY, State.UNLOADING)) {
            slot.model.unload(Duration.ZERO);
            throw ErrorType.CONFLICT.because(
                    "model \"%s\" was unloaded while another version of it was being loaded".formatted(slot.name()));
        }
        slots.replace(slot.name(), before, slot);
        before.left.complete(null);
        thread("berth-unloader", () -> unload(before)).start();
    }

    @Override
    public Entry unload(String name) throws InterruptedException {
        var slot = slot(name);
        if (!beginUnload(slot)) {
            throw unknown(name);
        }
        return awaitUnloaded(slot);
    }

    /// Begins to unload a model; false: it is not loaded, or somebody else unloads it.
    boolean beginUnload(Slot slot) {
        if (!slot.state.compareAndSet(State.READY, State.UNLOADING)) {
            return false;
        }
        try {
            thread("berth-unloader", () -> unload(slot)).start();
            return true;
        } catch (Throwable e) {
            slot.state.set(State.READY);
            throw e;
        }
    }

    /// Unloads a model that is idle, so that there is room for another one; false: it is in use, or
    /// being unloaded.
    boolean evict(Slot slot) throws InterruptedException {
        if (!slot.model.closeIfIdle(() -> slot.state.compareAndSet(State.READY, State.UNLOADING))) {
            return false;
        }
        metrics.evictions.increment();
        log.info("model \"{}\" makes way, because it has not been used for longest", slot.name());
        thread("berth-unloader", () -> unload(slot)).start();
        try {
            awaitUnloaded(slot);
        } catch (ServingException e) {
            log.warn("{}", e.getMessage());
        }
        return true;
    }

    private Entry awaitUnloaded(Slot slot) throws InterruptedException {
        var name = slot.name();
        try {
            if (!slot.unloaded.get(patience.toNanos(), TimeUnit.NANOSECONDS)) {
                throw ErrorType.INTERNAL.because(
                        "model \"%s\" is unloaded, but one of its hooks does not end; what that uses is freed when it does"
                                .formatted(name));
            }
            return slot.entry(Optional.empty());
        } catch (TimeoutException e) {
            throw ErrorType.DEADLINE_EXCEEDED.because(
                    "model \"%s\" was not unloaded within %d s; that goes on".formatted(name, patience.toSeconds()), e);
        } catch (ExecutionException e) {
            throw ErrorType.INTERNAL.because(
                    "model \"%s\" is unloaded, but its hooks could not be closed".formatted(name), e.getCause());
        }
    }

    private void unload(Slot slot) {
        MDC.put(ModelMetrics.LABEL, slot.name());
        try {
            boolean freed = slot.model.unload(drain);
            // Who unloads a model wants its memory back now. glibc keeps much of what is freed otherwise.
            NativeHeap.trim();
            log.info(
                    "model \"{}\" is unloaded{}",
                    slot.name(),
                    slot.left.isDone() ? ", as a newer version is there" : "");
            free(slot);
            slot.unloaded.complete(freed);
        } catch (Throwable e) {
            metrics.caught(e);
            free(slot);
            slot.unloaded.completeExceptionally(e);
        }
    }

    @Override
    public ServedModel.Visit enter(String name, Deadline deadline) {
        return enter(name);
    }

    /// @throws ServingException `NOT_FOUND` when it is not loaded
    public ServedModel.Visit enter(String name) {
        var slot = ready(name);
        try {
            return slot.model.enter();
        } catch (ServingException e) {
            throw slot.isReady() ? e : unknown(name);
        }
    }

    /// The model of that name, whatever it is doing.
    Optional<Slot> find(String name) {
        return Optional.ofNullable(slots.get(name));
    }

    Stream<Slot> slots() {
        return slots.values().stream();
    }

    @Override
    public Entry describe(String name) {
        var slot = ready(name);
        return slot.entry(slot.model.problem());
    }

    @Override
    public List<Entry> list() {
        return slots().filter(Slot::isReady)
                .map(slot -> slot.entry(Optional.empty()))
                .sorted(Comparator.comparing(Entry::name))
                .toList();
    }

    @Override
    public void stop() {
        stopped = true;
        loading.forEach(slot -> giveUp(slot, stopping()));
    }

    private void free(Slot slot) {
        registry.remove(slot.model);
        slots.remove(slot.name(), slot);
        slot.left.complete(null);
    }

    private Slot slot(String name) {
        return find(name).orElseThrow(() -> unknown(name));
    }

    private Slot ready(String name) {
        return Optional.of(slot(name)).filter(Slot::isReady).orElseThrow(() -> unknown(name));
    }

    ServingException unknown(String name) {
        var slot = slots.get(name);
        return ErrorType.NOT_FOUND.because("model \"%s\" %s"
                .formatted(name, slot == null || slot.isReady() ? "is not loaded" : slot.state.get().text));
    }

    static ServingException stopping() {
        return ErrorType.NOT_READY.because("the server is stopping");
    }

    private static void requireDirectory(Path directory) {
        if (!Files.exists(directory)) {
            throw ErrorType.NOT_FOUND.because(
                    "url: found nothing at %s, expected the directory of a model artifact".formatted(directory));
        }
        if (!Files.isDirectory(directory)) {
            throw ErrorType.BAD_INPUT.because(
                    "url: found a file at %s, expected the directory of a model artifact".formatted(directory));
        }
    }

    private static Thread thread(String name, Runnable run) {
        return Thread.ofPlatform()
                .name(name)
                .daemon()
                .inheritInheritableThreadLocals(false)
                .unstarted(run);
    }
}
