package dev.berth.handler.task;

import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.ServiceLoader;

/// A task that models are made for, such as question answering. A new one is a handler, a class of
/// this, and a line in `META-INF/services/dev.berth.handler.task.Task`. Nothing else names it.
///
/// Clients of Hugging Face's inference API are answered at `/` as at `/invocations`. A task whose
/// models `serve pack` takes is a [HubTask] too. Safe for use by many threads.
public interface Task {

    /// All of them, in the order in which they are listed.
    List<Task> ALL = ServiceLoader.load(Task.class, Task.class.getClassLoader()).stream()
            .map(ServiceLoader.Provider::get)
            .toList();

    static Optional<Task> named(String name) {
        return ALL.stream().filter(task -> task.name().equals(name)).findFirst();
    }

    /// What `model.json` calls it.
    String name();

    /// Makes the handler of a model artifact, on the thread that opens the artifact. The handler is
    /// not loaded yet. The caller closes it, if it is closeable.
    ///
    /// @throws dev.berth.artifact.ModelArtifactException with everything that is wrong
    TracedHandler<?, ?, ?> open(Path directory);
}
