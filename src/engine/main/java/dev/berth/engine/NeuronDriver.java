package dev.berth.engine;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.stream.Stream;

/// What the Neuron driver shows of its devices: `/dev/neuron0`, `/dev/neuron1`, … and a directory
/// of facts for each.
///
/// @param devices how many there are
/// @param coresOfADevice the NeuronCores of each; 0 where the driver does not tell: newer ones tell
///   only root
record NeuronDriver(int devices, int coresOfADevice) {

    /// Reads what stands below `root`, which is `/` on a real machine.
    static NeuronDriver read(Path root) {
        int devices = count(root.resolve("dev"), "neuron\\d+");
        return new NeuronDriver(
                devices, devices == 0 ? 0 : cores(root.resolve("sys/devices/virtual/neuron_device/neuron0")));
    }

    /// The number that the driver gives, else that of the directories it has for cores.
    private static int cores(Path device) {
        var file = device.resolve("core_count");
        try {
            return Files.isReadable(file)
                    ? Integer.parseInt(Files.readString(file).strip())
                    : count(device, "neuron_core\\d+");
        } catch (IOException | NumberFormatException e) {
            throw new DeviceException("the Neuron driver's %s can't be read: %s".formatted(file, e));
        }
    }

    static int count(Path directory, String name) {
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
}
