package dev.berth;

import static dev.berth.testing.BerthImage.assertAnswers;
import static dev.berth.testing.BerthImage.assertEnds;
import static dev.berth.testing.BerthImage.out;
import static dev.berth.testing.BerthImage.serving;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.github.dockerjava.api.model.Device;
import dev.berth.testing.BerthImage;
import dev.berth.testing.TestArtifact;
import java.nio.file.Path;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.io.TempDir;
import org.testcontainers.containers.BindMode;
import org.testcontainers.containers.GenericContainer;

/// Containers of the image and the devices that they find, or miss.
@Tag("packaged")
class ContainerDevicesTest {

    @BeforeAll
    static void buildTheImage() throws Exception {
        BerthImage.build();
    }

    @Test
    @Tag("RUN-19")
    void itLooksForDevicesWhereItIsNotToldOne() throws Exception {
        try (var container = serving().withEnv("INSTANCE_TYPE", "")) {
            container.start();
            assertAnswers(container);
            await().untilAsserted(() ->
                    assertThat(out(container)).contains("accelerators: [cpu] (detected: no NVIDIA or Neuron device)"));
        }
    }

    /// All of an Inf2 instance but its chip: a device node, a library that has the operators of the
    /// compiled files where pip would put it, and files that refuse any shape but their own.
    @Test
    @EnabledOnOs(architectures = "amd64")
    void itServesACompiledModelWithACopyOnEachNeuronCore(@TempDir Path artifact) throws Exception {
        TestArtifact.compiled(artifact, "inf2", "neuron-1x128.pt", "neuron-2x384.pt");
        try (var container = withNeuronDevice(serving(artifact))
                .withEnv("NEURON_RT_NUM_CORES", "2")
                .withFileSystemBind(
                        TestArtifact.OPERATORS.toAbsolutePath().toString(),
                        "/opt/torch_neuronx/lib/libtorchneuron.so",
                        BindMode.READ_ONLY)) {
            container.start();
            assertAnswers(container, 8080, "\"answer\":");
            await().untilAsserted(() -> assertThat(out(container))
                    .contains("[inf2 core 0, inf2 core 1]", "ready: 2 workers", "max-batch-size 2"));
        }
    }

    @Test
    @Tag("RUN-14")
    void aNeuronDeviceWithoutItsLibraryOrItsCoresEndsTheProcess(@TempDir Path artifact) throws Exception {
        TestArtifact.compiled(artifact, "inf2", "waves-1x128.pt");
        assertEnds(
                withNeuronDevice(serving(artifact)).withEnv("BERTH_NEURON_CORES", "2"),
                "inf2 needs libtorchneuron.so of the Python package torch_neuronx: found it neither in BERTH_EXTRA_LIBRARIES nor");
        assertEnds(
                withNeuronDevice(serving(artifact)),
                "does not tell how many NeuronCores there are, newer ones only to root; set NEURON_RT_NUM_CORES");
        assertEnds(serving(artifact).withEnv("INSTANCE_TYPE", "ml.inf2.xlarge"), "no Neuron device");
    }

    private static GenericContainer<?> withNeuronDevice(GenericContainer<?> container) {
        return container
                .withEnv("INSTANCE_TYPE", "ml.inf2.xlarge")
                .withCreateContainerCmdModifier(
                        cmd -> cmd.getHostConfig().withDevices(new Device("rwm", "/dev/neuron0", "/dev/null")));
    }
}
