package dev.berth.handler.task;

import dev.berth.hooks.Accelerator;
import dev.berth.hooks.ModelContext;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Consumer;
import java.util.function.Function;

/// The loaded models of a handler by accelerator, all of them or none: the workers of one share a copy.
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

  /// Whether nobody has warmed up this copy yet. From then on somebody has.
  public boolean isFirst(M model) {
    return warm.add(model);
  }

  /// Hands over all copies to be closed. No worker may be inside one.
  public void close(Consumer<M> close) {
    synchronized (models) {
      models.values().forEach(close);
      models.clear();
    }
  }
}
