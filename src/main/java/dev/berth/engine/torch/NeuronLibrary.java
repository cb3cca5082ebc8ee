package dev.berth.engine.torch;

import dev.berth.artifact.Target;
import dev.berth.engine.EngineException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/// Where `libtorchneuron.so` is: the library of the Neuron SDK that runs compiled models inside
/// libtorch. It comes with the Python package `torch_neuron` (Inf1) or `torch_neuronx` (Inf2, Trn1)
/// and fits the `torch` beside that package.
final class NeuronLibrary {

  static final String NAME = "libtorchneuron.so";

  private NeuronLibrary() {}

  /// @param libtorch the directories of libtorch, such as `site-packages/torch/lib`
  /// @throws EngineException when it is not there
  static Path find(Target target, List<Path> libtorch) {
    var sdk = target == Target.INF1 ? "torch_neuron" : "torch_neuronx";
    return libtorch.stream()
        .map(lib -> lib.resolve("../..").resolve(sdk).resolve("lib").resolve(NAME).normalize())
        .filter(Files::isRegularFile)
        .findFirst()
        .orElseThrow(
            () ->
                new EngineException(
                    "%s needs %s of the Python package %s: found it neither in BERTH_EXTRA_LIBRARIES nor beside the torch of %s; %s"
                        .formatted(
                            target,
                            NAME,
                            sdk,
                            libtorch.isEmpty()
                                ? "PYTORCH_LIBRARY_PATH, which is not set"
                                : libtorch,
                            "point PYTORCH_LIBRARY_PATH at torch/lib of the environment that has the package")));
  }
}
