package dev.berth.engine;

import dev.berth.artifact.Target;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;
import java.util.stream.Stream;

/// What a machine has to run a model on.
///
/// @param processors the cores that this process may use: a container's share where it has one
/// @param nvidiaDevice whether the kernel shows an NVIDIA device, even if no engine can use it
/// @param gpus the GPUs that an engine can use
/// @param neuron the kind of its Neuron devices, if there are any
/// @param neuronCores the NeuronCores of all Neuron devices; 0 where the driver does not tell: newer
///   ones tell only root
public record Machine(int processors, boolean nvidiaDevice, int gpus, Optional<Target> neuron, int neuronCores) {

    private static final int CORES_OF_AN_INFERENTIA = 4;

    public static Machine current() {
        return read(Path.of("/"));
    }

    /// Reads what the drivers show: `/dev/neuron0`, `/dev/neuron1`, … and a directory of facts for
    /// each.
    ///
    /// @param root what stands for `/`
    static Machine read(Path root) {
        // A container may have been given any of the host's.
        boolean nvidiaDevice = count(root.resolve("dev"), "nvidia\\d+") > 0;
        int gpus =
                nvidiaDevice ? Engine.ALL.stream().mapToInt(Engine::gpus).max().orElse(0) : 0;
        int devices = count(root.resolve("dev"), "neuron\\d+");
        int cores = devices == 0 ? 0 : neuronCores(root.resolve("sys/devices/virtual/neuron_device/neuron0"));
        // Inferentia2 and Trainium have two cores a device and run the same files, so one name serves
        // for both.
        var kind = cores == CORES_OF_AN_INFERENTIA ? Target.INF1 : Target.INF2;
        return new Machine(
                Runtime.getRuntime().availableProcessors(),
                nvidiaDevice,
                gpus,
                Optional.of(kind).filter(_ -> devices > 0),
                devices * cores);
    }

    /// The number that the driver gives for a device, else that of the directories it has for cores.
    private static int neuronCores(Path device) {
        var file = device.resolve("core_count");
        try {
            return Files.isReadable(file)
                    ? Integer.parseInt(Files.readString(file).strip())
                    : count(device, "neuron_core\\d+");
        } catch (IOException | NumberFormatException e) {
            throw new EngineException("the Neuron driver's %s can't be read: %s".formatted(file, e));
        }
    }

    private static int count(Path directory, String name) {
        if (!Files.isDirectory(directory)) {
            return 0;
        }
        try (Stream<Path> entries = Files.list(directory)) {
            return Math.toIntExact(
                    entries.filter(entry -> entry.getFileName().toString().matches(name))
                            .count());
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /// The same with fewer cores, where the process has to leave the others to another one.
    public Machine withProcessors(int most) {
        return new Machine(Math.min(most, processors), nvidiaDevice, gpus, neuron, neuronCores);
    }
}
