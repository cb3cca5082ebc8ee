package dev.berth.config;

import dev.berth.hooks.CpuProfile;
import java.nio.file.Path;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.OptionalInt;

/// Which model is served, and on what.
///
/// @param directory the model artifact: the directory unpacked from `model.tar.gz`. Where models
///   come and go, each has its own
/// @param program the file of `code/` that has the hooks; empty: `Inference.java`
/// @param instanceType the value of `INSTANCE_TYPE`, unchecked; empty: look at the machine
/// @param workers threads that predict; empty: as the accelerator wants
/// @param cpuProfile how they share the cores of a CPU
/// @param neuronCores NeuronCores that this process may use; empty: all of the machine
/// @param extraLibraries libraries of operators, loaded after libtorch
/// @param watch whether changes to the artifact are served while the server runs
public record ModelConfig(
    Path directory,
    Optional<String> program,
    Optional<String> instanceType,
    OptionalInt workers,
    CpuProfile cpuProfile,
    OptionalInt neuronCores,
    List<Path> extraLibraries,
    boolean watch) {

  public ModelConfig {
    Objects.requireNonNull(directory, "directory");
    Objects.requireNonNull(program, "program");
    Objects.requireNonNull(instanceType, "instanceType");
    Objects.requireNonNull(cpuProfile, "cpuProfile");
    Require.atLeast("workers", workers, 1);
    Require.atLeast("neuronCores", neuronCores, 1);
    extraLibraries = List.copyOf(extraLibraries);
  }

  /// The same for another artifact.
  public ModelConfig at(Path artifact) {
    return new ModelConfig(
        artifact, program, instanceType, workers, cpuProfile, neuronCores, extraLibraries, watch);
  }
}
