package dev.berth.hooks;

import java.nio.file.Path;
import java.util.Objects;

/// What a worker tells [InferenceHandler#modelFn] about the model that it is to load.
///
/// @param modelDirectory the model artifact: the directory unpacked from `model.tar.gz`, to be read only
/// @param accelerator the device that this worker owns
/// @param worker the worker's number, from 0
public record ModelContext(Path modelDirectory, Accelerator accelerator, int worker) {
  public ModelContext {
    Objects.requireNonNull(modelDirectory, "modelDirectory");
    Objects.requireNonNull(accelerator, "accelerator");
  }
}
