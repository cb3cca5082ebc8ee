package dev.berth.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.params.provider.Arguments.arguments;

import dev.berth.artifact.Target;
import dev.berth.hooks.Accelerator;
import dev.berth.hooks.CpuProfile;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

class DevicesTest {

    private static final Machine PLAIN = machine(false, 0, Optional.empty(), 0);
    private static final Machine TWO_GPUS = machine(true, 2, Optional.empty(), 0);
    private static final Machine GPU_WITHOUT_CUDA = machine(true, 0, Optional.empty(), 0);
    private static final Machine INFERENTIA = machine(false, 0, Optional.of(Target.INF1), 4);
    private static final Machine INFERENTIA2 = machine(false, 0, Optional.of(Target.INF2), 2);
    private static final Machine INFERENTIA2_NOT_AS_ROOT = machine(false, 0, Optional.of(Target.INF2), 0);

    @ParameterizedTest
    @CsvSource({
        "cpu,CPU",
        "GPU,GPU",
        "inf1,INF1",
        "inf2,INF2",
        "trn1,TRN1",
        "ml.c5.xlarge,CPU",
        "ml.m7g.2xlarge,CPU",
        "ml.g5.xlarge,GPU",
        "g5.xlarge,GPU",
        "ml.g4dn.12xlarge,GPU",
        "ml.g6e.48xlarge,GPU",
        "ml.p4de.24xlarge,GPU",
        "ml.inf1.6xlarge,INF1",
        "ml.inf2.xlarge,INF2",
        "inf2.48xlarge,INF2",
        "ml.trn1.32xlarge,TRN1",
        "ml.trn1n.32xlarge,TRN1",
        "ml.c6i.metal,CPU",
        "t3.medium,CPU"
    })
    void anInstanceTypeHasItsDevice(String instanceType, Target target) {
        assertThat(Target.ofInstance(instanceType)).contains(target);
    }

    @ParameterizedTest
    @ValueSource(strings = {"tpu", "", "ml.", "xlarge", "ml.g5", "gpu.xlarge", "ml.trn2.48xlarge"})
    void anythingElseIsAStartUpError(String instanceType) {
        assertThatThrownBy(() -> choose(instanceType, PLAIN))
                .isInstanceOf(EngineException.class)
                .hasMessageContaining("INSTANCE_TYPE: found \"%s\"", instanceType)
                .hasMessageContaining("ml.g5.xlarge");
    }

    @Test
    void thereIsOneAcceleratorForEachDeviceOrCore() {
        assertThat(choose("gpu", TWO_GPUS).accelerators())
                .containsExactly(new Accelerator.Gpu(0), new Accelerator.Gpu(1));
        assertThat(choose("inf1", INFERENTIA).accelerators()).hasSize(4).contains(new Accelerator.Inf1(3));
        assertThat(choose("trn1", INFERENTIA2).accelerators()).hasSize(2).contains(new Accelerator.Trn1(1));
        assertThat(choose("cpu", TWO_GPUS).accelerators())
                .containsExactly(new Accelerator.Cpu(TWO_GPUS.processors(), CpuProfile.ADAPTIVE));
    }

    private static List<Arguments> missingDevices() {
        return List.of(
                arguments("gpu", PLAIN, "NVIDIA GPU"),
                arguments("ml.g5.xlarge", PLAIN, "NVIDIA GPU"),
                arguments("inf1", PLAIN, "/dev/neuron0"),
                arguments("ml.inf2.xlarge", PLAIN, "/dev/neuron0"),
                arguments("trn1", PLAIN, "/dev/neuron0"),
                arguments("inf1", INFERENTIA2, "the Neuron devices of this machine are inf2"),
                arguments("trn1", INFERENTIA, "the Neuron devices of this machine are inf1"),
                arguments("inf2", INFERENTIA2_NOT_AS_ROOT, "only to root; set NEURON_RT_NUM_CORES"));
    }

    @ParameterizedTest
    @MethodSource("missingDevices")
    void aDeviceThatIsNotThereIsAStartUpErrorAndNoSilentCpu(String instanceType, Machine machine, String missing) {
        assertThatThrownBy(() -> choose(instanceType, machine))
                .isInstanceOf(EngineException.class)
                .hasMessageContaining(missing);
    }

    @Test
    @Tag("RUN-19")
    void withoutAnInstanceTypeTheDeviceIsDetectedAndSaid() {
        var detected = Map.of(
                PLAIN, Target.CPU,
                TWO_GPUS, Target.GPU,
                GPU_WITHOUT_CUDA, Target.CPU,
                INFERENTIA, Target.INF1,
                INFERENTIA2, Target.INF2);
        detected.forEach((machine, target) -> {
            assertThat(detect(machine).target()).isEqualTo(target);
            assertThat(detect(machine).origin()).startsWith("detected: ");
        });
        assertThat(detect(GPU_WITHOUT_CUDA).origin()).contains("NVIDIA", "CUDA build");
        assertThatThrownBy(() -> detect(INFERENTIA2_NOT_AS_ROOT))
                .hasMessageContaining("only to root; set INSTANCE_TYPE to inf1, inf2 or trn1");
    }

    @Test
    void theNumberOfNeuronCoresCanBeSaid() {
        var two = OptionalInt.of(2);
        assertThat(Devices.choose(Optional.of("inf1"), two, INFERENTIA).accelerators())
                .containsExactly(new Accelerator.Inf1(0), new Accelerator.Inf1(1));
        assertThat(Devices.choose(Optional.of("inf2"), two, INFERENTIA2_NOT_AS_ROOT)
                        .accelerators())
                .hasSize(2);
        assertThatThrownBy(() -> Devices.choose(Optional.of("inf2"), OptionalInt.of(3), INFERENTIA2))
                .isInstanceOf(EngineException.class)
                .hasMessage("neuron-cores: found 3, expected at most the 2 of this machine");
    }

    @Test
    void devicesAndCoresAreReadFromTheDriver(@TempDir Path root) throws IOException {
        assertThat(Machine.read(root)).isEqualTo(PLAIN);
        for (var name : List.of("neuron0", "neuron1", "neuron_monitor", "null")) {
            Files.createFile(Files.createDirectories(root.resolve("dev")).resolve(name));
        }
        assertThat(Machine.read(root)).isEqualTo(INFERENTIA2_NOT_AS_ROOT);
        var device = root.resolve("sys/devices/virtual/neuron_device/neuron0");
        Files.createDirectories(device.resolve("neuron_core0"));
        Files.createDirectories(device.resolve("neuron_core1"));
        assertThat(Machine.read(root)).isEqualTo(machine(false, 0, Optional.of(Target.INF2), 4));
        // The driver writes no newline.
        Files.writeString(device.resolve("core_count"), "4");
        assertThat(Machine.read(root)).isEqualTo(machine(false, 0, Optional.of(Target.INF1), 8));
        Files.writeString(device.resolve("core_count"), "many");
        assertThatThrownBy(() -> Machine.read(root))
                .isInstanceOf(EngineException.class)
                .hasMessageContaining("core_count");
    }

    private static Machine machine(boolean nvidiaDevice, int gpus, Optional<Target> neuron, int neuronCores) {
        return new Machine(Runtime.getRuntime().availableProcessors(), nvidiaDevice, gpus, neuron, neuronCores);
    }

    private static Devices choose(String instanceType, Machine machine) {
        return Devices.choose(Optional.of(instanceType), OptionalInt.empty(), machine);
    }

    private static Devices detect(Machine machine) {
        return Devices.choose(Optional.empty(), OptionalInt.empty(), machine);
    }
}
