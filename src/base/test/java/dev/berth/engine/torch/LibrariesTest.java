package dev.berth.engine.torch;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.berth.artifact.Target;
import dev.berth.engine.EngineException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// The libraries that are looked for on the disk. `ServeLibrariesTest` and `ContainerTest` load
/// them.
class LibrariesTest {

    /// As pip lays out a Python environment.
    @Test
    void theNeuronLibraryIsFoundBesideTorch(@TempDir Path packages) throws IOException {
        var libtorch = Files.createDirectories(packages.resolve("torch/lib"));
        assertThatThrownBy(() -> Libtorch.neuron(Target.TRN1, List.of(libtorch)))
                .isInstanceOf(EngineException.class)
                .hasMessageContaining("trn1 needs libtorchneuron.so of the Python package torch_neuronx")
                .hasMessageContaining(libtorch.toString());
        assertThatThrownBy(() -> Libtorch.neuron(Target.INF1, List.of()))
                .hasMessageContaining("package torch_neuron:")
                .hasMessageContaining("PYTORCH_LIBRARY_PATH, which is not set");
        var inf1 = Files.createFile(
                Files.createDirectories(packages.resolve("torch_neuron/lib")).resolve(Libtorch.NEURON));
        var inf2 = Files.createFile(
                Files.createDirectories(packages.resolve("torch_neuronx/lib")).resolve(Libtorch.NEURON));
        assertThat(Libtorch.neuron(Target.INF1, List.of(libtorch))).isEqualTo(inf1);
        assertThat(Libtorch.neuron(Target.INF2, List.of(libtorch))).isEqualTo(inf2);
    }

    @Test
    void aLibtorchOfAnotherVersionIsRefusedBeforeItIsLoaded(@TempDir Path torch) throws IOException {
        var lib = Files.createDirectories(torch.resolve("lib"));
        Libtorch.check(List.of());
        assertThatThrownBy(() -> Libtorch.check(List.of(lib)))
                .isInstanceOf(EngineException.class)
                .hasMessageContaining("PYTORCH_LIBRARY_PATH: found no libtorch.so in [" + lib);
        Files.createFile(lib.resolve("libtorch.so"));
        Libtorch.check(List.of(lib));
        Files.writeString(torch.resolve("build-version"), "2.7.1+cpu\n");
        Libtorch.check(List.of(lib));
        Files.writeString(
                torch.resolve("version.py"),
                "from typing import Optional\n\n__version__ = '2.13.0+cpu'\ndebug = False\n");
        assertThatThrownBy(() -> Libtorch.check(List.of(torch.resolve("other"), lib)))
                .isInstanceOf(EngineException.class)
                .hasMessageContaining("found libtorch 2.13.0 in " + lib)
                .hasMessageContaining("expected 2.7.x");
        Files.createFile(lib.resolve("libdjl_torch.so"));
        Libtorch.check(List.of(lib));
    }
}
