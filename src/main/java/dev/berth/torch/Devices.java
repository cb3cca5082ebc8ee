package dev.berth.torch;

import dev.berth.artifact.Target;
import dev.berth.hooks.Accelerator;
import java.util.List;
import java.util.Optional;
import java.util.function.IntFunction;
import java.util.stream.IntStream;

/// The accelerators that this server uses, and how they were chosen.
///
/// @param target their kind
/// @param accelerators one for each device or NeuronCore; for a CPU there is one
/// @param origin for the log: what decided it
public record Devices(Target target, List<Accelerator> accelerators, String origin) {

  public Devices {
    accelerators = List.copyOf(accelerators);
  }

  /// Chooses by `INSTANCE_TYPE`, or by what the machine has where that is not set.
  ///
  /// @throws DeviceException when the instance type is unknown or its device is not there
  public static Devices choose(Optional<String> instanceType, Machine machine) {
    if (instanceType.isEmpty()) {
      return detect(machine);
    }
    var name = instanceType.get();
    var target = InstanceType.target(name).orElseThrow(() -> new DeviceException(
        "INSTANCE_TYPE: found \"%s\", expected cpu, gpu, inf1, inf2, trn1 or a name such as ml.g5.xlarge".formatted(name)));
    var devices = of(target, machine, "INSTANCE_TYPE=" + name);
    if (devices.accelerators.isEmpty()) {
      throw new DeviceException(
          "INSTANCE_TYPE=%s asks for %s, but %s; set INSTANCE_TYPE=cpu to serve a model traced for the CPU"
              .formatted(name, target, whatIsMissing(target)));
    }
    return devices;
  }

  private static Devices detect(Machine machine) {
    if (machine.neuron().isPresent()) {
      return of(machine.neuron().get(), machine, "detected: /dev/neuron0");
    }
    if (machine.nvidiaDevice()) {
      var gpu = of(Target.GPU, machine, "detected: NVIDIA device");
      return gpu.accelerators.isEmpty()
          ? of(Target.CPU, machine, "an NVIDIA device is present, but %s".formatted(whatIsMissing(Target.GPU)))
          : gpu;
    }
    return of(Target.CPU, machine, "detected: no NVIDIA or Neuron device");
  }

  private static Devices of(Target target, Machine machine, String origin) {
    return switch (target) {
      case CPU -> new Devices(target, List.of(new Accelerator.Cpu()), origin);
      case GPU -> new Devices(target, numbered(machine.gpus(), Accelerator.Gpu::new), origin);
      case INF1 -> new Devices(target, numbered(machine.neuronCores(), Accelerator.Inf1::new), origin);
      case INF2 -> new Devices(target, numbered(machine.neuronCores(), Accelerator.Inf2::new), origin);
      case TRN1 -> new Devices(target, numbered(machine.neuronCores(), Accelerator.Trn1::new), origin);
    };
  }

  private static List<Accelerator> numbered(int count, IntFunction<Accelerator> accelerator) {
    return IntStream.range(0, count).mapToObj(accelerator).toList();
  }

  private static String whatIsMissing(Target target) {
    return switch (target) {
      case CPU -> throw new IllegalArgumentException("a CPU is always there");
      case GPU -> "PyTorch sees no NVIDIA GPU: its driver, a CUDA build of libtorch or --gpus all is missing";
      case INF1, INF2, TRN1 -> "there is no Neuron device: /dev/neuron0 is missing or was not passed to the container";
    };
  }
}
