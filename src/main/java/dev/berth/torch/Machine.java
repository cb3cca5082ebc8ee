package dev.berth.torch;

import ai.djl.util.NeuronUtils;
import dev.berth.artifact.Target;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;

/// What accelerators a machine has.
///
/// @param nvidiaDevice whether the kernel shows an NVIDIA device, whatever libtorch can do with it
/// @param gpus the GPUs that libtorch can use
/// @param neuron the kind of its Neuron devices, if there are any
/// @param neuronCores the NeuronCores of all Neuron devices
public record Machine(boolean nvidiaDevice, int gpus, Optional<Target> neuron, int neuronCores) {

  private static final int CORES_OF_AN_INF1_CHIP = 4;

  /// The machine that this process runs on.
  public static Machine current() {
    boolean nvidiaDevice = Files.exists(Path.of("/dev/nvidia0"));
    return new Machine(nvidiaDevice, nvidiaDevice ? Torch.gpus() : 0, neuronTarget(), NeuronUtils.getNeuronCores());
  }

  private static Optional<Target> neuronTarget() {
    if (!NeuronUtils.hasNeuron()) {
      return Optional.empty();
    }
    // Inferentia2 and Trainium have two cores a chip and run the same traces, so one name serves for both.
    return Optional.of(
        NeuronUtils.getNeuronCoresForDevice("neuron0") == CORES_OF_AN_INF1_CHIP ? Target.INF1 : Target.INF2);
  }
}
