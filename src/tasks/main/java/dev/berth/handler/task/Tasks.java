package dev.berth.handler.task;

import java.nio.file.Path;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.ServiceLoader;
import java.util.function.Function;

/// Tasks that models are made for, such as question answering. New ones are their handlers, a class
/// of this, and a line in `META-INF/services/dev.berth.handler.task.Tasks`. Nothing else names them.
///
/// Clients of Hugging Face's inference API are answered at `/` as at `/invocations`.
public interface Tasks {

    /// The handlers of all tasks by their names, in the order in which they are listed.
    Map<String, Function<Path, TaskHandler<?, ?, ?>>> ALL = all();

    /// What `model.json` calls each task, and what makes the handler of a model artifact, on the
    /// thread that opens the artifact. The handler is not loaded yet. The caller closes it, if it is
    /// closeable. A [dev.berth.artifact.ModelArtifactException] has everything that is wrong.
    Map<String, Function<Path, TaskHandler<?, ?, ?>>> handlers();

    private static Map<String, Function<Path, TaskHandler<?, ?, ?>>> all() {
        var all = new LinkedHashMap<String, Function<Path, TaskHandler<?, ?, ?>>>();
        ServiceLoader.load(Tasks.class, Tasks.class.getClassLoader()).forEach(each -> all.putAll(each.handlers()));
        return Collections.unmodifiableMap(all);
    }
}
