package dev.berth.engine.torch;

import dev.berth.hooks.Accelerator;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;

/// One copy of a TorchScript file for each accelerator, which the workers of that accelerator share: a copy for each
/// worker would only take memory.
public final class SharedModels implements AutoCloseable {

  private final Path file;

  /// Guarded by its own monitor.
  private final Map<Accelerator, TorchModel> models = new HashMap<>();

  public SharedModels(Path file) {
    this.file = file;
  }

  /// The copy on an accelerator, loaded where it is the first to ask.
  ///
  /// @throws TorchException when the file can't be loaded
  public TorchModel on(Accelerator accelerator) {
    synchronized (models) {
      return models.computeIfAbsent(accelerator, a -> TorchModel.load(file, a));
    }
  }

  /// Frees all copies. No worker may be inside one.
  @Override
  public void close() {
    synchronized (models) {
      models.values().forEach(TorchModel::close);
      models.clear();
    }
  }
}
