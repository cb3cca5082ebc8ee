package dev.berth.engine;

import dev.berth.artifact.Target;
import java.nio.file.Path;
import java.util.Optional;

/// What a machine has to run a model on.
///
/// @param processors the cores that this process may use: a container's share where it has one
/// @param nvidiaDevice whether the kernel shows an NVIDIA device, even if no engine can use it
/// @param gpus the GPUs that an engine can use
/// @param neuron the kind of its Neuron devices, if there are any
/// @param neuronCores the NeuronCores of all Neuron devices; 0 where the driver does not tell
public record Machine(int processors, boolean nvidiaDevice, int gpus, Optional<Target> neuron, int neuronCores) {

    private static final int CORES_OF_AN_INFERENTIA = 4;

    public static Machine current() {
        // A container may have been given any of the host's.
        boolean nvidiaDevice = NeuronDriver.count(Path.of("/dev"), "nvidia\\d+") > 0;
        int gpus =
                nvidiaDevice ? Engine.ALL.stream().mapToInt(Engine::gpus).max().orElse(0) : 0;
        return with(nvidiaDevice, gpus, NeuronDriver.read(Path.of("/")));
    }

    /// The same with fewer cores, where the process has to leave the others to another one.
    public Machine withProcessors(int most) {
        return new Machine(Math.min(most, processors), nvidiaDevice, gpus, neuron, neuronCores);
    }

    static Machine with(boolean nvidiaDevice, int gpus, NeuronDriver driver) {
        return new Machine(
                Runtime.getRuntime().availableProcessors(),
                nvidiaDevice,
                gpus,
                kind(driver),
                driver.devices() * driver.coresOfADevice());
    }

    /// Inferentia2 and Trainium have two cores a device and run the same files, so one name serves
    /// for both.
    private static Optional<Target> kind(NeuronDriver driver) {
        if (driver.devices() == 0) {
            return Optional.empty();
        }
        return Optional.of(driver.coresOfADevice() == CORES_OF_AN_INFERENTIA ? Target.INF1 : Target.INF2);
    }
}
