package dev.berth.handler.task;

import dev.berth.artifact.TracedArtifact;
import dev.berth.engine.Graph;
import dev.berth.engine.SharedGraphs;
import dev.berth.hooks.Accelerator;
import dev.berth.hooks.ModelContext;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.BiFunction;

/// The loaded models of a handler by accelerator, all of them or none: the workers of one share a
/// copy. A model is not [AutoCloseable] itself, because only this knows when the last worker is
/// gone.
///
/// @param <M> compared by identity
final class Copies<M> implements AutoCloseable {

    private final List<SharedGraphs> files;
    private final BiFunction<Accelerator, List<Graph>, M> model;

    /// Guarded by its monitor. Workers start one after another and only then touch it.
    private final Map<Accelerator, M> models = new HashMap<>();

    private final Set<M> warm = ConcurrentHashMap.newKeySet();

    /// @param model makes one of a copy of each file, in the order of the artifact
    Copies(TracedArtifact artifact, BiFunction<Accelerator, List<Graph>, M> model) {
        this.files = artifact.modelFiles().stream().map(SharedGraphs::new).toList();
        this.model = model;
    }

    /// The worker's copy. The first call loads those of all accelerators.
    ///
    /// @throws dev.berth.engine.EngineException when one can't be loaded; then none stays loaded
    M of(ModelContext context) {
        synchronized (models) {
            if (models.isEmpty()) {
                try {
                    load(context.accelerators());
                } catch (RuntimeException e) {
                    close();
                    throw e;
                }
            }
            return models.get(context.accelerator());
        }
    }

    /// File by file, because the Neuron runtime gives each file that is loaded to the core that has
    /// the fewest: so the copies of a file are on different cores, and workers that run the same
    /// shape do not wait for each other.
    private void load(List<Accelerator> accelerators) {
        files.forEach(file -> accelerators.forEach(file::on));
        for (var accelerator : accelerators) {
            var own = files.stream().map(file -> file.on(accelerator)).toList();
            models.put(accelerator, model.apply(accelerator, own));
        }
    }

    /// Whether no other worker of a copy has begun to warm it up.
    boolean beginsToWarm(M model) {
        return warm.add(model);
    }

    /// Frees all copies, each when no worker is inside any more.
    @Override
    public void close() {
        synchronized (models) {
            files.forEach(SharedGraphs::close);
            models.clear();
        }
    }
}
