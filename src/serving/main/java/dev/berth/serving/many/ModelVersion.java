package dev.berth.serving.many;

import dev.berth.error.ErrorType;
import dev.berth.error.ServingException;
import dev.berth.serving.ServedModel;
import java.nio.file.Path;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/// A model that holds a name, or a version of it that is being loaded beside the one that does. It is
/// there from the beginning of its load until all that it holds is freed.
final class ModelVersion {

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

    /// What can be loaded under a name: an artifact of the directory that somebody looks after, or one
    /// that `POST /models` has named.
    static final class Artifact {

        final String name;
        final Path directory;

        /// As they were at the last two looks, which the thread that looks writes. Empty: nobody looks.
        volatile Optional<ArtifactFiles> files;

        /// The version whose load has begun last, on any thread.
        volatile Optional<ModelVersion> last = Optional.empty();

        Artifact(String name, Path directory, Optional<ArtifactFiles> files) {
            this.name = name;
            this.directory = directory;
            this.files = files;
        }

        /// Whether somebody has begun to load the files that are there now.
        boolean isTried() {
            return last.filter(version -> version.files.equals(files)).isPresent();
        }

        /// Why the files that are there now could not be loaded.
        Optional<ServingException> failure() {
            return last.filter(_ -> isTried())
                    .flatMap(version -> version.failure)
                    .filter(why -> why.type() != ErrorType.CONFLICT);
        }
    }

    final Artifact artifact;

    /// Those of the artifact that are loaded.
    final Optional<ArtifactFiles> files;

    /// Whether idle models make way for it.
    final boolean evicts;

    final ServedModel model;

    /// The version that it takes the place of, until it has. Only for the loader.
    Optional<ModelVersion> before;

    /// Ends with the load, also when the load is given up. Its failures are [ServingException]s.
    final CompletableFuture<Void> loaded = new CompletableFuture<>();

    /// When its name is free, or another version has it.
    final CompletableFuture<Void> left = new CompletableFuture<>();

    // Both are set before anyone else sees the version.
    Thread loader;

    /// Whether nothing of it was left open.
    FutureTask<Boolean> unload;

    /// Why it could not be loaded. Set before its name is free.
    volatile Optional<ServingException> failure = Optional.empty();

    ModelVersion(Artifact artifact, boolean evicts, ServedModel model, Optional<ModelVersion> before) {
        this.artifact = artifact;
        this.files = artifact.files;
        this.evicts = evicts;
        this.model = model;
        this.before = before;
    }

    String name() {
        return artifact.name;
    }

    State state() {
        return switch (loaded.state()) {
            case RUNNING -> State.LOADING;
            case FAILED, CANCELLED -> State.LATE;
            case SUCCESS -> model.isReady() ? State.READY : State.UNLOADING;
        };
    }

    boolean isReady() {
        return state() == State.READY;
    }

    /// Waits until the load has ended. That takes no longer than it may.
    void awaitLoaded() {
        await(loaded, Long.MAX_VALUE);
    }

    /// Has a request wait until it is loaded, or has left its name.
    ///
    /// @throws ServingException why it could not be loaded; `NOT_READY` when the time is over
    void await(CompletableFuture<Void> event, long nanos) {
        try {
            event.get(Math.max(0, nanos), TimeUnit.NANOSECONDS);
        } catch (TimeoutException e) {
            throw notReady(state().text + " still; that goes on, ask again");
        } catch (ExecutionException e) {
            throw (ServingException) e.getCause();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw ModelStore.stopping();
        }
    }

    ServingException notReady(String why) {
        return ErrorType.NOT_READY.because("model \"%s\" %s".formatted(name(), why));
    }
}
