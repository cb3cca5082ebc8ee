package dev.berth.handler.task;

import dev.berth.artifact.ModelArtifactException;
import dev.berth.engine.EngineException;
import dev.berth.hooks.Accelerator;
import dev.berth.hooks.ModelContext;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Consumer;
import java.util.function.Function;

/// The loaded models of a handler by accelerator, all of them or none: the workers of one share a
/// copy.
///
/// @param <M> compared by identity
public final class Copies<M> {

  /// Guarded by its monitor. Workers start one after another and only then touch it.
  private final Map<Accelerator, M> models = new HashMap<>();

  private final Set<M> warm = ConcurrentHashMap.newKeySet();

  /// The worker's copy. The first call loads those of all accelerators.
  public M of(ModelContext context, Function<List<Accelerator>, Map<Accelerator, M>> load) {
    synchronized (models) {
      if (models.isEmpty()) {
        models.putAll(load.apply(context.accelerators()));
      }
      return models.get(context.accelerator());
    }
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
  /// @param described what of the artifact says what the model takes, such as `model.json`
  /// @throws ModelArtifactException when the model fails
  public <E extends Exception> void warmUp(
      M model, Path artifact, String described, WarmUp<E> warmUp) throws E {
    if (!warm.add(model)) {
      return;
    }
    try {
      warmUp.run();
    } catch (EngineException e) {
      throw new ModelArtifactException(
          artifact,
          List.of(
              "the model does not take what %s it does: %s".formatted(described, e.getMessage())),
          e);
    }
  }

  /// Hands over all copies to be closed. No worker may be inside one.
  public void close(Consumer<M> close) {
    synchronized (models) {
      models.values().forEach(close);
      models.clear();
    }
  }
}
