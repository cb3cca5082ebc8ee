package dev.berth.engine;

import dev.berth.hooks.Accelerator;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;

/// One copy of a model file for each accelerator. The workers of an accelerator share it, because a
/// copy for each worker would only take memory.
public final class SharedGraphs implements AutoCloseable {

    private final Path file;

    /// Guarded by its own monitor.
    private final Map<Accelerator, Graph> graphs = new HashMap<>();

    public SharedGraphs(Path file) {
        this.file = file;
    }

    /// The copy on an accelerator. The first call loads it.
    ///
    /// @throws EngineException when the file can't be loaded
    public Graph on(Accelerator accelerator) {
        synchronized (graphs) {
            return graphs.computeIfAbsent(accelerator, a -> Graph.load(file, a));
        }
    }

    /// Frees all copies, each when no worker is inside any more.
    @Override
    public void close() {
        synchronized (graphs) {
            graphs.values().forEach(Graph::close);
            graphs.clear();
        }
    }
}
