package dev.berth.serving.many;

import dev.berth.artifact.ArtifactFile;
import dev.berth.error.ServingException;
import dev.berth.serving.many.ModelVersion.Artifact;
import java.io.IOException;
import java.nio.file.DirectoryIteratorException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
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
public final class ModelDirectory implements AutoCloseable {

    /// How long a change may go unseen. What it costs is a look at the attributes of each file.
    public static final Duration BETWEEN_LOOKS = Duration.ofSeconds(2);

    /// The same for files that somebody edits and looks at the answers.
    public static final Duration BETWEEN_EDITS = Duration.ofMillis(150);

    private static final Logger log = LoggerFactory.getLogger(ModelDirectory.class);

    private final Path root;

    /// Whether the directory itself is the artifact.
    private final boolean isArtifact;

    private final ManyModels models;
    private final boolean loadAtStart;
    private final Duration betweenLooks;
    private final CountDownLatch stopped = new CountDownLatch(1);

    // Only for the thread that looks, and for the first look before it.
    private Map<String, ArtifactFiles> before = Map.of();
    private final Set<String> told = new HashSet<>();

    /// @param isArtifact whether it is one artifact, which is loaded after each edit as the model [Served#NAME]
    /// @param loadAtStart false: a model is loaded by the first request for it
    /// @param betweenLooks how long the thread sleeps, [#BETWEEN_LOOKS] or [#BETWEEN_EDITS] as a rule
    public ModelDirectory(Path root, boolean isArtifact, ModelStore store, boolean loadAtStart, Duration betweenLooks) {
        this.root = root.toAbsolutePath().normalize();
        this.isArtifact = isArtifact;
        this.models = new ManyModels(store, Optional.of(this.root), isArtifact);
        this.loadAtStart = loadAtStart;
        this.betweenLooks = betweenLooks;
    }

    public ManyModels models() {
        return models;
    }

    /// Looks for models, loads as many as fit if it is to, and goes on looking.
    public void start() {
        look(true);
        var names = new TreeSet<>(models.artifacts.keySet());
        if (isArtifact) {
            log.info("edits in {} are served when they can be loaded", root);
        } else {
            log.info(
                    "{} models in {}{}",
                    names.size(),
                    root,
                    names.isEmpty() ? ", one is expected in each directory of it" : "");
        }
        if (loadAtStart) {
            for (var name : names) {
                try {
                    models.store
                            .begin(models.artifacts.get(name), false, Optional.empty())
                            .awaitLoaded();
                } catch (ServingException e) {
                    log.debug("not loaded at start, as the store has logged and GET /models says", e);
                }
            }
        }
        Thread.ofPlatform().name("berth-models").daemon().start(this::keepLooking);
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
        models.artifacts.values().stream()
                .filter(artifact -> !found.containsKey(artifact.name) && !before.containsKey(artifact.name))
                .forEach(this::remove);
        before = found;
    }

    private Map<String, ArtifactFiles> directories() throws IOException {
        if (isArtifact) {
            return Map.of(Served.NAME, ArtifactFiles.edited(root));
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
                } else if (name.contains("\uFFFD")) {
                    // It stands for bytes that are no characters here, and no path leads there by such a name.
                    tellOnce("models: %s is not served, because its name is not text".formatted(name));
                } else if (Files.isDirectory(entry)) {
                    found.put(name, ArtifactFiles.in(entry));
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
        var artifact = models.artifacts.computeIfAbsent(name, _ -> {
            log.debug("model \"{}\" is in {}", name, root);
            return new Artifact(name, isArtifact ? root : root.resolve(name), Optional.of(files));
        });
        artifact.files = Optional.of(files);
        if (!first && !artifact.isTried()) {
            update(artifact);
        }
    }

    /// Loads a version that nobody has tried to load yet, beside the one that serves. If none does,
    /// the next request loads it.
    private void update(Artifact artifact) {
        var serving = models.served(artifact);
        try {
            if (serving.isEmpty()) {
                if (loadAtStart && models.store.find(artifact.name).isEmpty()) {
                    models.store.begin(artifact, false, Optional.empty());
                }
            } else if (serving.get().isReady() && artifact.last.stream().allMatch(last -> last.loaded.isDone())) {
                log.info("model \"{}\" has changed", artifact.name);
                models.store.begin(artifact, true, serving);
            }
        } catch (ServingException e) {
            // The next look tries again.
            log.debug("model \"{}\" is not loaded now", artifact.name, e);
        }
    }

    /// One that is being loaded is unloaded as soon as it is there.
    private void remove(Artifact artifact) {
        log.info("model \"{}\" is not in {} any more", artifact.name, root);
        models.artifacts.remove(artifact.name);
        models.served(artifact).ifPresent(serving -> {
            var _ = serving.loaded.thenRun(() -> models.store.beginUnload(serving));
        });
    }

    /// Looks no more.
    @Override
    public void close() {
        stopped.countDown();
    }
}
