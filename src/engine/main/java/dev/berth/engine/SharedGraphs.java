package dev.berth.engine;

import dev.berth.hooks.Accelerator;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/// One copy of a model file for each accelerator. The workers of an accelerator share it, because a
/// copy for each worker would only take memory.
public final class SharedGraphs implements AutoCloseable {

    private final Path file;
    private final List<String> wanted;

    /// Guarded by its own monitor.
    private final Map<Accelerator, Graph> graphs = new HashMap<>();

    public SharedGraphs(Path file) {
        this(file, List.of());
    }

    /// @param wanted as [Graph#load(Path, Accelerator, List)] takes them
    public SharedGraphs(Path file, List<String> wanted) {
        this.file = file;
        this.wanted = List.copyOf(wanted);
    }

    /// The copy on an accelerator. The first call loads it.
    ///
    /// @throws EngineException when the file can't be loaded
    public Graph on(Accelerator accelerator) {
        synchronized (graphs) {
            return graphs.computeIfAbsent(accelerator, a -> Graph.load(file, a, wanted));
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
