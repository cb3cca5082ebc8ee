package dev.berth.config;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/// What a model is told of its devices: NeuronCores and libraries.
class DeviceSettingsTest {

    @TempDir
    private Path home;

    @BeforeEach
    void unpackTheSampleModel() throws IOException {
        Files.createDirectory(home.resolve("model-artifact"));
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = ';',
            value = {
                "NEURON_RT_NUM_CORES;4;4",
                "NEURON_RT_VISIBLE_CORES;3;1",
                "NEURON_RT_VISIBLE_CORES;4-7;4",
                "NEURON_RT_VISIBLE_CORES;0,2-3;3",
                "BERTH_NEURON_CORES;2;2"
            })
    void the_number_of_neuron_cores_is_said_as_the_neuron_runtime_is_told(String name, String value, int cores) {
        assertThat(read(Map.of(name, value)).model().hardware().neuronCores()).hasValue(cores);
    }

    @Test
    void what_the_neuron_runtime_is_told_wins_and_its_zero_means_all() {
        assertThat(read(Map.of("NEURON_RT_VISIBLE_CORES", "0-3", "NEURON_RT_NUM_CORES", "8", "BERTH_NEURON_CORES", "2"))
                        .model()
                        .hardware()
                        .neuronCores())
                .hasValue(4);
        assertThat(read(Map.of("NEURON_RT_NUM_CORES", "8", "BERTH_NEURON_CORES", "2"))
                        .model()
                        .hardware()
                        .neuronCores())
                .hasValue(8);
        assertThat(read(Map.of("NEURON_RT_NUM_CORES", "0")).model().hardware().neuronCores())
                .isEmpty();
    }

    @ParameterizedTest
    @ValueSource(strings = {"3-1", "a", "1-", "0,,1", "-1", "99999", "0,0", "0-3,2"})
    void cores_that_are_no_range_are_a_problem(String cores) {
        assertThat(problems(Map.of("NEURON_RT_VISIBLE_CORES", cores)))
                .singleElement()
                .asString()
                .isEqualTo(
                        "NEURON_RT_VISIBLE_CORES: found \"%s\", expected NeuronCores such as 0, 0-3 or 0,2-3, each once",
                        cores);
    }

    @Test
    void extra_libraries_are_files_that_exist() throws IOException {
        var one = Files.createFile(home.resolve("libone.so"));
        var two = Files.createFile(home.resolve("libtwo.so"));
        assertThat(read(Map.of("BERTH_EXTRA_LIBRARIES", one + ", " + two))
                        .model()
                        .hardware()
                        .extraLibraries())
                .containsExactly(one, two);
        assertThat(problems(Map.of("BERTH_EXTRA_LIBRARIES", one + "," + home.resolve("libthree.so"))))
                .singleElement()
                .asString()
                .contains("BERTH_EXTRA_LIBRARIES: found")
                .contains("libthree.so")
                .contains("files that exist");
    }

    private ServerConfig read(Map<String, String> environment) {
        return Configuration.read(environment, Map.of(), home).config();
    }

    private List<String> problems(Map<String, String> environment) {
        return catchThrowableOfType(ConfigurationException.class, () -> read(environment))
                .problems();
    }
}
