package dev.berth.engine;

import dev.berth.artifact.Target;
import dev.berth.hooks.Accelerator;
import dev.berth.hooks.CpuProfile;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
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
    /// @param neuronCores how many NeuronCores this process may use, where somebody has said so; else
    ///   all there are
    /// @throws EngineException when the instance type is unknown or its device is not there
    public static Devices choose(Optional<String> instanceType, OptionalInt neuronCores, Machine machine) {
        if (instanceType.isEmpty()) {
            return detect(neuronCores, machine);
        }
        var name = instanceType.get();
        var target = Target.ofInstance(name)
                .orElseThrow(() -> new EngineException(
                        "INSTANCE_TYPE: found \"%s\", expected cpu, gpu, inf1, inf2, trn1 or a name such as ml.g5.xlarge"
                                .formatted(name)));
        missing(target, machine).ifPresent(why -> {
            throw new EngineException(
                    "INSTANCE_TYPE=%s asks for %s, but %s; set INSTANCE_TYPE=cpu to serve a model traced for the CPU"
                            .formatted(name, target, why));
        });
        return of(target, neuronCores, machine, "INSTANCE_TYPE=" + name);
    }

    private static Optional<String> missing(Target target, Machine machine) {
        if (target == Target.GPU && machine.gpus() == 0) {
            return Optional.of(
                    "no engine sees an NVIDIA GPU: its driver, a CUDA build of libtorch or ONNX Runtime, or --gpus all is missing");
        }
        if (!target.isNeuron()) {
            return Optional.empty();
        }
        return machine.neuron().isEmpty()
                ? Optional.of(
                        "there is no Neuron device: the driver is missing on the host, or --device /dev/neuron0 in `docker run`")
                : machine.neuron()
                        .filter(there -> machine.neuronCores() > 0 && !target.runs(there))
                        .map("the Neuron devices of this machine are %s"::formatted);
    }

    private static Devices detect(OptionalInt neuronCores, Machine machine) {
        if (machine.neuron().isPresent()) {
            if (machine.neuronCores() == 0) {
                throw new EngineException(
                        "the Neuron driver does not tell what its devices are, newer ones only to root; "
                                + "set INSTANCE_TYPE to inf1, inf2 or trn1, and NEURON_RT_NUM_CORES to the number of NeuronCores");
            }
            return of(machine.neuron().get(), neuronCores, machine, "detected: /dev/neuron0");
        }
        if (machine.gpus() > 0) {
            return of(Target.GPU, neuronCores, machine, "detected: NVIDIA device");
        }
        return of(
                Target.CPU,
                neuronCores,
                machine,
                machine.nvidiaDevice()
                        ? "detected: an NVIDIA device, but no engine can use it: its driver or a CUDA build of libtorch or ONNX Runtime is missing"
                        : "detected: no NVIDIA or Neuron device");
    }

    private static Devices of(Target target, OptionalInt neuronCores, Machine machine, String origin) {
        return new Devices(target, accelerators(target, neuronCores, machine), origin);
    }

    private static List<Accelerator> accelerators(Target target, OptionalInt neuronCores, Machine machine) {
        return switch (target) {
            case CPU -> List.of(new Accelerator.Cpu(machine.processors(), CpuProfile.ADAPTIVE));
            case GPU -> numbered(machine.gpus(), Accelerator.Gpu::new);
            case INF1 -> numbered(cores(neuronCores, machine), Accelerator.Inf1::new);
            case INF2 -> numbered(cores(neuronCores, machine), Accelerator.Inf2::new);
            case TRN1 -> numbered(cores(neuronCores, machine), Accelerator.Trn1::new);
        };
    }

    private static List<Accelerator> numbered(int count, IntFunction<Accelerator> accelerator) {
        return IntStream.range(0, count).mapToObj(accelerator).toList();
    }

    private static int cores(OptionalInt asked, Machine machine) {
        int there = machine.neuronCores();
        if (asked.isEmpty() && there == 0) {
            throw new EngineException(
                    "the Neuron driver does not tell how many NeuronCores there are, newer ones only to root; set NEURON_RT_NUM_CORES to it");
        }
        int cores = asked.orElse(there);
        if (there > 0 && cores > there) {
            throw new EngineException(
                    "neuron-cores: found %d, expected at most the %d of this machine".formatted(cores, there));
        }
        return cores;
    }
}
