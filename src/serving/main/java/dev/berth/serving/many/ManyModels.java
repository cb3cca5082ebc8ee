package dev.berth.serving.many;

import dev.berth.error.ErrorType;
import dev.berth.error.ServingException;
import dev.berth.serving.ServedModel;
import dev.berth.serving.hooks.Deadline;
import dev.berth.serving.many.ModelVersion.Artifact;
import dev.berth.serving.many.ModelVersion.State;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Stream;

/// The models of a server by their names, or the versions of its only one. May be used by any thread;
/// [#load], [#unload] and [#enter] may take long.
///
/// Of a directory that a [ModelDirectory] looks after, requests load models that are not loaded, and
/// wait for them. Of other models only those are known that `POST /models` has loaded.
public final class ManyModels implements Served {

    /// A model.
    ///
    /// @param name an opaque key
    /// @param directory where its artifact is
    /// @param status a word for what it is doing; empty where only models that are loaded are listed
    /// @param problem why it can't serve; of one that is `loaded`, why a newer version does not
    public record Entry(String name, Path directory, Optional<String> status, Optional<String> problem) {}

    final ModelStore store;

    /// Where the artifacts are; empty: `POST /models` says where each is.
    private final Optional<Path> root;

    private final boolean hasOne;

    /// Those of the directory.
    final Map<String, Artifact> artifacts = new ConcurrentHashMap<>();

    /// @param root absolute
    /// @param hasOne whether the root is the artifact of the model [Served#NAME]
    ManyModels(ModelStore store, Optional<Path> root, boolean hasOne) {
        this.store = store;
        this.root = root;
        this.hasOne = hasOne;
    }

    /// Models that callers load.
    public static ManyModels of(ModelStore store) {
        return new ManyModels(store, Optional.empty(), false);
    }

    @Override
    public Optional<ManyModels> many() {
        return hasOne ? Optional.empty() : Optional.of(this);
    }

    /// Whether requests load models that are not loaded.
    public boolean haveDirectory() {
        return root.isPresent();
    }

    /// A load's failure is told as one of the model: it is not the request that is wrong. What is wrong
    /// with the files stays wrong, so nobody should try again soon.
    @Override
    public ServedModel.Visit enter(String name, Deadline deadline) {
        try {
            return enterLoaded(hasOne ? NAME : name, deadline);
        } catch (ServingException e) {
            throw switch (e.type()) {
                case BAD_INPUT -> ErrorType.INTERNAL.because(e.getMessage(), e);
                case DEADLINE_EXCEEDED -> ErrorType.NOT_READY.because(e.getMessage(), e);
                default -> e;
            };
        }
    }

    /// Waits until a model is loaded, as a request for it does.
    ///
    /// @throws ServingException why it can't be loaded, as [#load] does
    public void awaitLoaded(String name, Deadline deadline) {
        enterLoaded(name, deadline).close();
    }

    private ServedModel.Visit enterLoaded(String name, Deadline deadline) {
        while (true) {
            var found = store.find(name);
            if (found.isEmpty()) {
                beginUnlessBroken(find(name).orElseThrow(() -> unknown(name)));
                continue;
            }
            var version = found.get();
            if (root.isEmpty() && !version.isReady() && !store.isStopped()) {
                throw notLoaded(name);
            }
            // One whose load has just failed has left its name, and tells its failure below.
            if (version.state() == State.LATE && !version.left.isDone()) {
                throw version.notReady(State.LATE.text);
            }
            try {
                return version.model.enter(() -> version.await(version.loaded, deadline.nanosLeft()));
            } catch (ServingException e) {
                if (version.state() != State.UNLOADING || store.isStopped()) {
                    throw e;
                }
            }
            if (root.isPresent()) {
                // It is unloaded, or another version has its place.
                version.await(version.left, deadline.nanosLeft());
            }
        }
    }

    private void beginUnlessBroken(Artifact artifact) {
        // What is wrong with the files stays wrong. Hooks and memory may be better off the next time.
        var broken = artifact.failure().filter(why -> why.type() == ErrorType.BAD_INPUT);
        if (broken.isPresent()) {
            throw broken.get();
        }
        try {
            store.begin(artifact, true, Optional.empty());
        } catch (ServingException e) {
            if (e.type() != ErrorType.CONFLICT) {
                throw e;
            }
        }
    }

    /// The version of an artifact that holds its name. Another model may, if `POST /models` has loaded
    /// it from elsewhere.
    Optional<ModelVersion> served(Artifact artifact) {
        return store.find(artifact.name).filter(version -> version.files.isPresent());
    }

    private ServingException unknown(String name) {
        return root.map(path -> ErrorType.NOT_FOUND.because(
                        "model \"%s\" is neither loaded nor a directory of %s".formatted(name, path)))
                .orElseGet(() -> notLoaded(name));
    }

    private ServingException notLoaded(String name) {
        return ErrorType.NOT_FOUND.because("model \"%s\" %s"
                .formatted(
                        name,
                        store.find(name)
                                .filter(version -> !version.isReady())
                                .map(version -> version.state().text)
                                .orElse("is not loaded")));
    }

    Optional<Artifact> find(String name) {
        return Optional.ofNullable(artifacts.get(name));
    }

    /// Loads a model and returns when it is warm.
    ///
    /// @throws ServingException `CONFLICT`, `NOT_FOUND`, `BAD_INPUT`, `INSUFFICIENT_MEMORY`,
    ///   `DEADLINE_EXCEEDED`, `NOT_READY`, `INTERNAL`
    public Entry load(String name, Path directory) {
        var absolute = directory.toAbsolutePath().normalize();
        var artifact = find(name).orElseGet(() -> new Artifact(name, directory, Optional.empty()));
        if (artifact.files.isEmpty()) {
            requireLoadable(directory, absolute);
        } else if (!absolute.equals(artifact.directory)) {
            throw ErrorType.CONFLICT.because("model \"%s\" is the one of %s, and can't be loaded from %s"
                    .formatted(name, artifact.directory, directory));
        }
        var version = store.begin(artifact, root.isPresent(), Optional.empty());
        version.awaitLoaded();
        return entry(version);
    }

    private void requireLoadable(Path directory, Path absolute) {
        if (root.isPresent() && !absolute.startsWith(root.get())) {
            throw ErrorType.BAD_INPUT.because("url: found %s, expected a directory below %s, which --models names"
                    .formatted(directory, root.get()));
        }
        if (!Files.exists(directory)) {
            throw ErrorType.NOT_FOUND.because(
                    "url: found nothing at %s, expected the directory of a model artifact".formatted(directory));
        }
        if (!Files.isDirectory(directory)) {
            throw ErrorType.BAD_INPUT.because(
                    "url: found a file at %s, expected the directory of a model artifact".formatted(directory));
        }
    }

    /// Waits for the requests that run, frees the model, and returns when it is gone.
    ///
    /// @throws ServingException `NOT_FOUND` when it is not loaded, `INTERNAL` when its hooks do not
    ///   end or fail, `DEADLINE_EXCEEDED`
    public Entry unload(String name) throws InterruptedException {
        var version = store.find(name).filter(store::beginUnload).orElseThrow(() -> notLoaded(name));
        store.awaitUnloaded(version);
        return new Entry(name, version.artifact.directory, Optional.empty(), Optional.empty());
    }

    /// @throws ServingException `NOT_FOUND` when there is no such model
    public Entry describe(String name) {
        return entry(name).orElseThrow(() -> unknown(name));
    }

    /// By their names.
    public List<Entry> list() {
        return Stream.concat(store.named().map(ModelVersion::name), artifacts.keySet().stream())
                .distinct()
                .sorted()
                .flatMap(name -> entry(name).stream())
                // The platform wants no more than names of a listing.
                .map(entry -> root.isPresent()
                        ? entry
                        : new Entry(entry.name, entry.directory, Optional.empty(), Optional.empty()))
                .toList();
    }

    private Optional<Entry> entry(String name) {
        var artifact = find(name);
        var version = store.find(name).filter(known -> artifact.isEmpty() || known.state() != State.UNLOADING);
        return root.isEmpty()
                ? version.filter(ModelVersion::isReady).map(this::entry)
                : version.map(this::entry).or(() -> artifact.map(ManyModels::entry));
    }

    private static Entry entry(Artifact artifact) {
        var failure = artifact.failure().map(Throwable::getMessage);
        var status = failure.isPresent() ? "failed" : "not loaded";
        return new Entry(artifact.name, artifact.directory, Optional.of(status), failure);
    }

    private Entry entry(ModelVersion version) {
        var state = version.state();
        var problem = version.model.problem();
        var status = switch (state) {
            case LOADING, LATE -> "loading";
            case READY -> problem.isEmpty() ? "loaded" : "failed";
            case UNLOADING -> "not loaded";
        };
        return new Entry(
                version.name(),
                version.artifact.directory,
                root.map(_ -> status),
                state == State.READY ? problem.or(() -> newerFailure(version)) : Optional.empty());
    }

    /// Why a model serves another version than the one that is there.
    private static Optional<String> newerFailure(ModelVersion version) {
        return version.artifact.failure().map(why -> "serves the version before: " + why.getMessage());
    }

    /// Of many models, one that can't serve is no problem of the others.
    @Override
    public Optional<String> problem() {
        if (!hasOne) {
            return Optional.empty();
        }
        var version = store.find(NAME);
        return version.isPresent()
                ? version.get().model.problem()
                : Optional.of(find(NAME)
                        .flatMap(Artifact::failure)
                        .map(Throwable::getMessage)
                        .orElse("model \"%s\" is not loaded".formatted(NAME)));
    }

    @Override
    public Collection<ServedModel> all() {
        return store.all();
    }

    @Override
    public void close(Duration drain) throws Exception {
        store.close(drain);
    }
}
