package dev.berth.handler.task;

import dev.berth.artifact.ModelArtifactException;
import dev.berth.artifact.TracedArtifact;
import dev.berth.engine.EngineException;
import dev.berth.engine.Graph;
import dev.berth.hooks.Accelerator;
import dev.berth.hooks.ModelContext;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
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
public final class Copies<M> implements AutoCloseable {

    private final TracedArtifact artifact;
    private final BiFunction<Accelerator, List<Graph>, M> model;

    /// Guarded by its monitor. Workers start one after another and only then touch it.
    private final Map<Accelerator, M> models = new HashMap<>();

    /// What the models are made of. Guarded by the monitor of `models`.
    private final List<Graph> graphs = new ArrayList<>();

    private final Set<M> warm = ConcurrentHashMap.newKeySet();

    /// @param model makes one of a copy of each file, in the order of the artifact
    public Copies(TracedArtifact artifact, BiFunction<Accelerator, List<Graph>, M> model) {
        this.artifact = artifact;
        this.model = model;
    }

    /// The worker's copy. The first call loads those of all accelerators.
    ///
    /// @throws EngineException when one can't be loaded; then none stays loaded
    public M of(ModelContext context) {
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
        var loaded = new LinkedHashMap<Accelerator, List<Graph>>();
        accelerators.forEach(accelerator -> loaded.put(accelerator, new ArrayList<>()));
        for (var file : artifact.modelFiles()) {
            for (var accelerator : accelerators) {
                graphs.add(Graph.load(file, accelerator));
                loaded.get(accelerator).add(graphs.getLast());
            }
        }
        loaded.forEach((accelerator, own) -> models.put(accelerator, model.apply(accelerator, own)));
    }

    /// What warms a copy up.
    ///
    /// @param <E> what it throws besides an [EngineException]
    @FunctionalInterface
    public interface WarmUp<E extends Exception> {
        void run() throws E;
    }

    /// Warms a copy up, unless another of its workers has begun to.
    ///
    /// @throws ModelArtifactException when the model fails
    public <E extends Exception> void warmUp(M model, WarmUp<E> warmUp) throws E {
        if (!warm.add(model)) {
            return;
        }
        try {
            warmUp.run();
        } catch (EngineException e) {
            throw new ModelArtifactException(
                    artifact.directory(), "the model does not take what the files beside it say: " + e.getMessage(), e);
        }
    }

    /// Frees all copies, each when no worker is inside any more.
    @Override
    public void close() {
        synchronized (models) {
            graphs.forEach(Graph::close);
            graphs.clear();
            models.clear();
        }
    }
}
