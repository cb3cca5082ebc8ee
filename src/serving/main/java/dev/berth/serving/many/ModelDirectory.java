package dev.berth.serving.many;

import dev.berth.artifact.ArtifactFile;
import dev.berth.error.ErrorType;
import dev.berth.error.ServingException;
import dev.berth.serving.ServedModel;
import dev.berth.serving.hooks.Deadline;
import java.io.IOException;
import java.nio.file.DirectoryIteratorException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.UnaryOperator;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// The models of a directory: every directory in it, or link to one, is an artifact and has its
/// model's name. Or a single artifact that somebody edits.
///
/// Requests load models that are not loaded, and wait for them. A thread looks again and again for
/// directories that have come, gone or changed. It takes what has been the same at two looks,
/// because somebody may still be copying. A version that has changed is loaded beside the one that
/// serves, and takes its place when it is warm.
///
/// It looks and asks no file system to tell it: changes that another machine makes on NFS are never
/// told.
public final class ModelDirectory implements ManyModels {

    /// How long a change may go unseen. What it costs is a look at the attributes of each file.
    public static final Duration BETWEEN_LOOKS = Duration.ofSeconds(2);

    /// The same for files that somebody edits and looks at the answers.
    private static final Duration BETWEEN_EDITS = Duration.ofMillis(150);

    /// What no name may have: control characters, and what stands for bytes that are no characters.
    private static final Pattern UNUSABLE = Pattern.compile("[\\p{Cntrl}\\uFFFD]");

    private static final Logger log = LoggerFactory.getLogger(ModelDirectory.class);

    /// One directory. The thread that looks writes what it sees, any thread what becomes of a load.
    private static final class Artifact {

        private final String name;
        private final Path directory;

        /// As they were at the last two looks.
        private volatile ArtifactFiles files;

        /// Those of the last load that has begun.
        private volatile ArtifactFiles tried;

        private volatile Optional<Failure> failure = Optional.empty();
        private volatile boolean removed;

        /// The version that is being loaded beside another one. Only for the thread that looks.
        private Optional<ModelStore.Slot> next = Optional.empty();

        private Artifact(String name, Path directory, ArtifactFiles files) {
            this.name = name;
            this.directory = directory;
            this.files = files;
        }

        /// Why the files that are there now could not be loaded.
        private Optional<Failure> currentFailure() {
            return failure.filter(failed -> failed.files.equals(files));
        }
    }

    private record Failure(ArtifactFiles files, ServingException why) {}

    private final Path root;

    /// The name of the model whose artifact is the directory itself.
    private final Optional<String> one;

    private final ModelStore store;
    private final boolean loadAtStart;
    private final Duration betweenLooks;
    private final Map<String, Artifact> artifacts = new ConcurrentHashMap<>();
    private final CountDownLatch stopped = new CountDownLatch(1);

    // Only for the thread that looks, and for the first look before it.
    private Map<String, ArtifactFiles> before = Map.of();
    private final Set<String> told = new HashSet<>();

    /// @param loadAtStart false: a model is loaded by the first request for it
    /// @param betweenLooks how long the thread sleeps, [#BETWEEN_LOOKS] as a rule
    public ModelDirectory(Path root, ModelStore store, boolean loadAtStart, Duration betweenLooks) {
        this(root, Optional.empty(), store, loadAtStart, betweenLooks);
    }

    /// One artifact, which is loaded at start and after each edit.
    public static ModelDirectory ofOne(String name, Path artifact, ModelStore store) {
        return new ModelDirectory(artifact, Optional.of(name), store, true, BETWEEN_EDITS);
    }

    private ModelDirectory(
            Path root, Optional<String> one, ModelStore store, boolean loadAtStart, Duration betweenLooks) {
        this.root = root.toAbsolutePath().normalize();
        this.one = one;
        this.store = store;
        this.loadAtStart = loadAtStart;
        this.betweenLooks = betweenLooks;
    }

    /// Looks for models, loads as many as fit if it is to, and goes on looking.
    public void start() throws InterruptedException {
        look(true);
        var names = new TreeSet<>(artifacts.keySet());
        if (one.isPresent()) {
            log.info("edits in {} are served when they can be loaded", root);
        } else {
            log.info(
                    "{} models in {}{}",
                    names.size(),
                    root,
                    names.isEmpty() ? ", one is expected in each directory of it" : "");
        }
        var looking = Thread.ofPlatform().name("berth-models").daemon().unstarted(this::keepLooking);
        if (one.isPresent()) {
            // Its first version may take for ever to load until somebody edits it.
            looking.start();
        }
        if (loadAtStart) {
            for (var name : names) {
                try {
                    store.awaitLoaded(begin(artifacts.get(name), Eviction.NONE));
                } catch (ServingException e) {
                    // The store has logged it, and GET /models says it.
                    log.debug("not loaded at start", e);
                }
            }
        }
        if (one.isEmpty()) {
            looking.start();
        }
    }

    private void keepLooking() {
        try {
            while (!stopped.await(betweenLooks.toMillis(), TimeUnit.MILLISECONDS)) {
                try {
                    look(false);
                } catch (RuntimeException e) {
                    log.error("changes in {} could not be picked up", root, e);
                }
            }
        } catch (InterruptedException e) {
            log.debug("nobody looks for models any more", e);
        }
    }

    void look(boolean first) {
        Map<String, ArtifactFiles> found;
        try {
            found = directories();
        } catch (IOException | DirectoryIteratorException e) {
            tellOnce("models: %s can't be read, what was there before stays: %s".formatted(root, e));
            return;
        }
        found.forEach((name, files) -> {
            if (first || files.equals(before.get(name))) {
                saw(name, files, first);
            }
        });
        artifacts.values().stream()
                .filter(artifact -> !found.containsKey(artifact.name) && !before.containsKey(artifact.name))
                .forEach(this::remove);
        before = found;
    }

    private Map<String, ArtifactFiles> directories() throws IOException {
        if (one.isPresent()) {
            return Map.of(one.get(), ArtifactFiles.edited(root));
        }
        var found = new HashMap<String, ArtifactFiles>();
        try (var entries = Files.newDirectoryStream(root)) {
            for (var entry : entries) {
                var name = entry.getFileName().toString();
                if (ArtifactFile.isHidden(entry.getFileName())) {
                    continue;
                }
                if (name.endsWith(".tar.gz")) {
                    tellOnce("models: %s is not served; unpack it into a directory of %s".formatted(name, root));
                } else if (Files.isDirectory(entry)) {
                    if (UNUSABLE.matcher(name).find()) {
                        tellOnce(
                                "models: \"%s\" is not served, because its name has characters that a name of a model can't have"
                                        .formatted(UNUSABLE.matcher(name).replaceAll("?")));
                    } else {
                        found.put(name, ArtifactFiles.in(entry));
                    }
                }
            }
        }
        return found;
    }

    private void tellOnce(String message) {
        if (told.add(message)) {
            log.warn(message);
        }
    }

    private void saw(String name, ArtifactFiles files, boolean first) {
        var artifact = artifacts.computeIfAbsent(name, _ -> {
            log.debug("model \"{}\" is in {}", name, root);
            return new Artifact(name, one.isPresent() ? root : root.resolve(name), files);
        });
        artifact.files = files;
        artifact.removed = false;
        if (!first && !files.equals(artifact.tried)) {
            update(artifact);
        }
    }

    /// Loads a version that nobody has tried to load yet, beside the one that serves. If none does,
    /// the next request loads it.
    private void update(Artifact artifact) {
        var serving = ours(artifact);
        try {
            if (serving.isEmpty()) {
                if (loadAtStart && store.find(artifact.name).isEmpty()) {
                    begin(artifact, Eviction.NONE);
                }
            } else if (one.isPresent() && abandoned(serving.get(), artifact)) {
                log.info("model \"{}\" has changed while it was being loaded", artifact.name);
            } else if (serving.get().isReady() && artifact.next.stream().allMatch(next -> next.loaded.isDone())) {
                log.info("model \"{}\" has changed", artifact.name);
                artifact.next =
                        Optional.of(store.beginBeside(serving.get(), order(artifact, new IdleModels(artifact.name))));
            }
        } catch (ServingException e) {
            log.debug("model \"{}\" is not loaded now", artifact.name, e);
            // The next look tries again.
            artifact.tried = null;
        }
    }

    /// Gives up the load of a version that nobody wants any more. Its hook may not end, which is why
    /// it was edited.
    private boolean abandoned(ModelStore.Slot serving, Artifact artifact) {
        var loading = Stream.concat(Stream.of(serving), artifact.next.stream())
                .filter(slot -> slot.state.get() == ModelStore.State.LOADING && !slot.loaded.isDone())
                .findFirst();
        loading.ifPresent(store::abandon);
        return loading.isPresent();
    }

    private void remove(Artifact artifact) {
        artifact.removed = true;
        var serving = ours(artifact);
        if (serving.isPresent()) {
            // One that is being loaded or unloaded is looked at again.
            store.beginUnload(serving.get());
        } else {
            artifacts.remove(artifact.name);
            log.info("model \"{}\" is not in {} any more", artifact.name, root);
        }
    }

    /// The model of a directory that holds its name. Another model may, if `POST /models` has loaded
    /// it from elsewhere.
    private Optional<ModelStore.Slot> ours(Artifact artifact) {
        return store.find(artifact.name).filter(slot -> slot.order.version().isPresent());
    }

    /// Begins to load what is there now.
    ///
    /// @throws ServingException `CONFLICT` when somebody else was first
    private ModelStore.Slot begin(Artifact artifact, Eviction eviction) {
        return store.begin(order(artifact, eviction));
    }

    private ModelStore.Order order(Artifact artifact, Eviction eviction) {
        var files = artifact.files;
        artifact.tried = files;
        artifact.failure = Optional.empty();
        return new ModelStore.Order(artifact.name, artifact.directory, Optional.of(files), eviction, why -> {
            if (why.type() != ErrorType.CONFLICT) {
                artifact.failure = Optional.of(new Failure(files, why));
                if (one.isPresent()) {
                    // Line by line, so that the compiler's caret stands below what it points at.
                    why.getMessage().lines().forEach(log::warn);
                }
                ours(artifact)
                        .filter(ModelStore.Slot::isReady)
                        .ifPresent(_ -> log.warn("model \"{}\": the version before serves on", artifact.name));
            }
        });
    }

    @Override
    public ServedModel.Visit enter(String name, Deadline deadline) {
        return enter(name, deadline, ModelDirectory::forRequest);
    }

    /// Waits until a model is loaded, as a request for it does.
    ///
    /// @throws ServingException why it can't be loaded, as [#load] does
    public void awaitLoaded(String name, Deadline deadline) {
        enter(name, deadline, UnaryOperator.identity()).close();
    }

    /// @param told what a load's failure is for the caller
    private ServedModel.Visit enter(String name, Deadline deadline, UnaryOperator<ServingException> told) {
        while (true) {
            var found = store.find(name);
            if (found.isEmpty()) {
                beginUnlessBroken(known(name), told);
                continue;
            }
            var slot = found.get();
            try (var _ = slot.model.hold()) {
                if (slot.state.get() == ModelStore.State.LOADING) {
                    await(slot.loaded, slot, deadline, told);
                }
                var visit = enter(slot);
                if (visit.isPresent()) {
                    return visit.get();
                }
            }
            // It is unloaded, or another version has its place.
            await(slot.left, slot, deadline, told);
        }
    }

    private static Optional<ServedModel.Visit> enter(ModelStore.Slot slot) {
        try {
            return switch (slot.state.get()) {
                case READY -> Optional.of(slot.model.enter());
                case LATE -> throw notReady(slot, ModelStore.State.LATE.text);
                case LOADING, UNLOADING -> Optional.empty();
            };
        } catch (ServingException e) {
            if (slot.state.get() == ModelStore.State.UNLOADING) {
                return Optional.empty();
            }
            throw e;
        }
    }

    private void beginUnlessBroken(Artifact artifact, UnaryOperator<ServingException> told) {
        // What is wrong with the files stays wrong. Hooks and memory may be better off the next time.
        var broken = artifact.currentFailure().map(Failure::why).filter(why -> why.type() == ErrorType.BAD_INPUT);
        if (broken.isPresent()) {
            throw told.apply(broken.get());
        }
        try {
            begin(artifact, new IdleModels(artifact.name));
        } catch (ServingException e) {
            if (e.type() != ErrorType.CONFLICT) {
                throw e;
            }
        }
    }

    private static void await(
            CompletableFuture<Void> event,
            ModelStore.Slot slot,
            Deadline deadline,
            UnaryOperator<ServingException> told) {
        try {
            event.get(Math.max(0, deadline.nanosLeft()), TimeUnit.NANOSECONDS);
        } catch (TimeoutException e) {
            throw notReady(slot, slot.state.get().text + " still; that goes on, ask again");
        } catch (ExecutionException e) {
            throw told.apply(ModelStore.failure(slot, e.getCause()));
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw ModelStore.stopping();
        }
    }

    /// A load's failure, for a caller who has only asked the model: it is not the request that is
    /// wrong. What is wrong with the files stays wrong, so nobody should try again soon.
    private static ServingException forRequest(ServingException e) {
        return switch (e.type()) {
            case BAD_INPUT -> ErrorType.INTERNAL.because(e.getMessage(), e);
            case NOT_FOUND, DEADLINE_EXCEEDED -> ErrorType.NOT_READY.because(e.getMessage(), e);
            default -> e;
        };
    }

    private static ServingException notReady(ModelStore.Slot slot, String why) {
        return ErrorType.NOT_READY.because("model \"%s\" %s".formatted(slot.name(), why));
    }

    private Artifact known(String name) {
        return find(name)
                .orElseThrow(() -> ErrorType.NOT_FOUND.because(
                        "model \"%s\" is neither loaded nor a directory of %s".formatted(name, root)));
    }

    private Optional<Artifact> find(String name) {
        return Optional.ofNullable(artifacts.get(name)).filter(artifact -> !artifact.removed);
    }

    @Override
    public Entry load(String name, Path directory) throws InterruptedException {
        var artifact = find(name);
        var absolute = directory.toAbsolutePath().normalize();
        if (artifact.isEmpty()) {
            if (!absolute.startsWith(root)) {
                throw ErrorType.BAD_INPUT.because("url: found %s, expected a directory below %s, which --models names"
                        .formatted(directory, root));
            }
            return store.load(name, directory, new IdleModels(name));
        }
        if (!absolute.equals(artifact.get().directory)) {
            throw ErrorType.CONFLICT.because("model \"%s\" is the one of %s, and can't be loaded from %s"
                    .formatted(name, artifact.get().directory, directory));
        }
        store.awaitLoaded(begin(artifact.get(), new IdleModels(name)));
        return describe(name);
    }

    @Override
    public Entry unload(String name) throws InterruptedException {
        return store.unload(name);
    }

    @Override
    public Entry describe(String name) {
        return find(name)
                .map(this::entry)
                .or(() -> store.find(name).map(this::entry))
                .orElseGet(() -> entry(known(name)));
    }

    /// Why no version of a model can serve now; nothing where one can.
    public Optional<String> problem(String name) {
        var slot = store.find(name);
        if (slot.isPresent()) {
            return slot.get().model.problem();
        }
        return Optional.of(find(name)
                .flatMap(Artifact::currentFailure)
                .map(failed -> failed.why.getMessage())
                .orElse("model \"%s\" is not loaded".formatted(name)));
    }

    @Override
    public List<Entry> list() {
        var entries = new TreeMap<String, Entry>();
        store.slots().forEach(slot -> entries.put(slot.name(), entry(slot)));
        artifacts.values().stream()
                .filter(artifact -> !artifact.removed)
                .forEach(artifact -> entries.put(artifact.name, entry(artifact)));
        return List.copyOf(entries.values());
    }

    private Entry entry(Artifact artifact) {
        var slot = store.find(artifact.name);
        if (slot.isPresent() && slot.get().state.get() != ModelStore.State.UNLOADING) {
            return entry(slot.get());
        }
        var failure = artifact.currentFailure().map(failed -> failed.why.getMessage());
        return new Entry(
                artifact.name, artifact.directory, Optional.of(failure.isPresent() ? "failed" : "not loaded"), failure);
    }

    private Entry entry(ModelStore.Slot slot) {
        return switch (slot.state.get()) {
            case LOADING, LATE -> entry(slot, "loading", Optional.empty());
            case READY -> entry(slot, "loaded", slot.model.problem().or(() -> newerFailure(slot)));
            case UNLOADING -> entry(slot, "not loaded", Optional.empty());
        };
    }

    private static Entry entry(ModelStore.Slot slot, String status, Optional<String> problem) {
        return new Entry(slot.name(), slot.order.directory(), Optional.of(status), problem);
    }

    /// Why a model serves another version than the one that is there.
    private Optional<String> newerFailure(ModelStore.Slot slot) {
        return slot.order.version().isEmpty()
                ? Optional.empty()
                : find(slot.name())
                        .flatMap(Artifact::currentFailure)
                        .filter(failed -> !slot.order.version().get().equals(failed.files))
                        .map(failed -> "serves the version before: " + failed.why.getMessage());
    }

    @Override
    public void stop() {
        stopped.countDown();
        store.stop();
    }

    /// The idle models of the directory, but for the one of a name. Those of `POST /models` can't
    /// come back by themselves, so they stay.
    private final class IdleModels implements Eviction {

        private final String except;

        private IdleModels(String except) {
            this.except = except;
        }

        @Override
        public List<ServedModel> candidates() {
            return slots().map(slot -> slot.model)
                    .filter(ServedModel::isIdle)
                    .sorted(Comparator.comparingLong(ServedModel::lastUsed))
                    .toList();
        }

        @Override
        public boolean evict(ServedModel model) throws InterruptedException {
            var slot = slots().filter(candidate -> candidate.model == model).findFirst();
            return slot.isPresent() && store.evict(slot.get());
        }

        private Stream<ModelStore.Slot> slots() {
            return store.slots()
                    .filter(slot -> slot.isReady()
                            && slot.order.version().isPresent()
                            && !slot.name().equals(except));
        }
    }
}
