package dev.berth.command;

import static org.assertj.core.api.Assertions.assertThat;

import dev.berth.testing.ServeProcess;
import dev.berth.testing.TestArtifact;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.io.TempDir;

/// `./serve` with libraries that the user brings: another libtorch, and operators of a model's own.
@Tag("packaged")
class ServeLibrariesTest {

    @Test
    @EnabledOnOs(architectures = "amd64")
    void aModelMayNeedTheOperatorsOfAnExtraLibrary(@TempDir Path directory) throws Exception {
        TestArtifact.compiled(directory, "cpu", "neuron-1x128.pt", "neuron-2x384.pt");
        try (var server = ServeProcess.serve(Map.of(), "--model-dir", directory.toString())) {
            assertThat(server.exitCode()).isEqualTo(1);
            assertThat(server.err().lines())
                    .singleElement()
                    .asString()
                    .contains("Unknown builtin op: berth_test::negate")
                    .contains("--extra-libraries");
        }
        var library = TestArtifact.OPERATORS.toString();
        try (var server = ServeProcess.serve(
                        Map.of("PYTORCH_EXTRA_LIBRARY_PATH", library), "--model-dir", directory.toString())
                .awaitReady()) {
            assertAnswers(server);
        }
        // A flag wins, and blanks do not matter.
        try (var server = ServeProcess.serve(
                        Map.of("PYTORCH_EXTRA_LIBRARY_PATH", "/none.so"),
                        "--model-dir",
                        directory.toString(),
                        "--extra-libraries",
                        library + " , " + library)
                .awaitReady()) {
            assertAnswers(server);
        }
    }

    @Test
    void anExtraLibraryThatIsNotSetOrBrokenIsToldApart(@TempDir Path directory) throws Exception {
        try (var server = ServeProcess.serve(
                        Map.of("PYTORCH_EXTRA_LIBRARY_PATH", "", "SAGEMAKER_CONTAINER_LOG_LEVEL", "debug"))
                .awaitReady()) {
            assertThat(server.out()).contains("extra-libraries = none (default)");
        }
        var broken = Files.writeString(
                directory.resolve("libops.so"), "no library, and longer than the header of one: " + "x".repeat(64));
        try (var server = ServeProcess.serve(Map.of("PYTORCH_EXTRA_LIBRARY_PATH", broken.toString()))) {
            assertThat(server.exitCode()).isEqualTo(1);
            assertThat(server.err().lines()).last().asString().contains(broken + " can't be loaded beside libtorch");
        }
    }

    /// The one that DJL has unpacked, given as somebody would who has libtorch elsewhere.
    @Test
    void libtorchMayComeFromAnotherDirectory(@TempDir Path cache) throws Exception {
        try (var server =
                ServeProcess.serve(Map.of("DJL_CACHE_DIR", cache.toString())).awaitReady()) {
            assertThat(server.terminate().exitCode()).isZero();
        }
        Path libtorch;
        try (var files = Files.walk(cache)) {
            libtorch = files.filter(file -> file.endsWith("libtorch_cpu.so"))
                    .findFirst()
                    .orElseThrow()
                    .getParent();
        }
        try (var server = ServeProcess.serve(Map.of("PYTORCH_LIBRARY_PATH", libtorch.toString()))
                .awaitReady()) {
            assertAnswers(server);
        }
    }

    @Test
    @Tag("RUN-14")
    void aLibtorchThatIsNoneIsNamedAndEndsTheProcess(@TempDir Path directory) throws Exception {
        for (var name : List.of("libtorch.so", "libtorch_cpu.so", "libc10.so")) {
            Files.writeString(directory.resolve(name), "no library");
        }
        try (var server = ServeProcess.serve(Map.of("PYTORCH_LIBRARY_PATH", directory.toString()))) {
            assertThat(server.exitCode()).isEqualTo(1);
            // The JVM may say something of its own about such a file first.
            assertThat(server.err().lines()).last().asString().contains("libtorch can't be loaded: " + directory);
        }
        try (var server = ServeProcess.serve(
                Map.of("PYTORCH_LIBRARY_PATH", directory.resolve("none").toString()))) {
            assertThat(server.exitCode()).isEqualTo(1);
            assertThat(server.err().lines())
                    .singleElement()
                    .asString()
                    .contains("PYTORCH_LIBRARY_PATH: found no libtorch.so");
        }
    }

    private static void assertAnswers(ServeProcess server) throws Exception {
        var question = "{\"question\": \"Who came?\", \"context\": \"Bob came.\"}";
        assertThat(server.invokeAsync(question).get().body()).contains("\"answer\":");
    }
}
