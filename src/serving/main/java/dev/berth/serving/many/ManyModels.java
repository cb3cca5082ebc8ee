package dev.berth.serving.many;

import dev.berth.error.ServingException;
import dev.berth.serving.ServedModel;
import dev.berth.serving.hooks.Deadline;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;

/// The models of a server that has many, as its callers see them. May be used by any thread;
/// [#load], [#unload] and [#enter] may take long.
public interface ManyModels {

    /// A model.
    ///
    /// @param name an opaque key
    /// @param directory where its artifact is
    /// @param status a word for what it is doing; empty where only models that are loaded are listed
    /// @param problem why it can't serve, or what is wrong besides
    record Entry(String name, Path directory, Optional<String> status, Optional<String> problem) {}

    /// Loads a model and returns when it is warm.
    ///
    /// @throws ServingException `CONFLICT`, `NOT_FOUND`, `BAD_INPUT`, `INSUFFICIENT_MEMORY`,
    ///   `DEADLINE_EXCEEDED`, `NOT_READY`, `INTERNAL`
    Entry load(String name, Path directory) throws InterruptedException;

    /// Waits for the requests that run, frees the model, and returns when it is gone.
    ///
    /// @throws ServingException `NOT_FOUND` when it is not loaded, `INTERNAL` when its hooks do not
    ///   end or fail, `DEADLINE_EXCEEDED`
    Entry unload(String name) throws InterruptedException;

    /// Takes a request for a model in, as [ServedModel#enter()] does.
    ///
    /// @param deadline of the request, which may wait until the model is loaded
    /// @throws ServingException `NOT_FOUND` when there is no such model, or why it can't be loaded
    ServedModel.Visit enter(String name, Deadline deadline);

    /// @throws ServingException `NOT_FOUND` when there is no such model
    Entry describe(String name);

    /// By their names.
    List<Entry> list();

    /// Refuses loads from now on, and those that are not done. The registry closes the models.
    void stop();
}
