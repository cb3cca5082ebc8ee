package dev.berth.config;

import java.nio.file.Path;
import java.util.Objects;
import java.util.Optional;
import java.util.OptionalInt;

/// Which model is served, and on what.
///
/// @param directory the model artifact: the directory unpacked from `model.tar.gz`
/// @param instanceType the value of `INSTANCE_TYPE`, unchecked; empty: look at the machine
/// @param workers copies of the model; empty: as the accelerator wants
/// @param multiModel whether this container runs for a multi-model endpoint, and so starts without a model
public record ModelConfig(Path directory, Optional<String> instanceType, OptionalInt workers, boolean multiModel) {
  public ModelConfig {
    Objects.requireNonNull(directory, "directory");
    Objects.requireNonNull(instanceType, "instanceType");
    Require.atLeast("workers", workers, 1);
  }
}
