package dev.berth.command;

import static org.assertj.core.api.Assertions.assertThat;

import dev.berth.testing.ServeProcess;
import dev.berth.testing.TestArtifact;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// `./serve check` in a process of its own. `CheckTest` is about what it finds,
/// and `InitCommandTest` checks what it has written.
@Tag("packaged")
class CheckCommandTest {

    @Test
    @Tag("RUN-14")
    void aCheckThatFindsProblemsNamesThemAndEndsWithOne(@TempDir Path directory) throws Exception {
        TestArtifact.compiled(directory, "inf2", "waves-1x128.pt");
        Files.delete(directory.resolve("tokenizer.json"));
        try (var check = ServeProcess.serve(Map.of("INSTANCE_TYPE", "inf2"), "check", directory.toString())) {
            assertThat(check.exitCode()).isEqualTo(1);
            assertThat(check.err().lines())
                    .hasSize(2)
                    .anyMatch(line -> line.contains("no Neuron device"))
                    .anyMatch(line -> line.contains("tokenizer.json: not found"));
            assertThat(check.out()).isEmpty();
        }
        try (var check =
                ServeProcess.serve(Map.of(), "check", directory.resolve("none").toString())) {
            assertThat(check.exitCode()).isEqualTo(1);
            assertThat(check.err().lines()).singleElement().asString().contains("none: found no such directory");
        }
        try (var check = ServeProcess.serve(Map.of(), "--models", directory.toString(), "check")) {
            assertThat(check.exitCode()).isEqualTo(2);
            assertThat(check.err().lines()).singleElement().asString().contains("--models: found it before check");
        }
        try (var check = ServeProcess.serve(Map.of(), "--workers", "0", "check")) {
            assertThat(check.exitCode()).isEqualTo(2);
            assertThat(check.err().lines()).singleElement().asString().contains("--workers: found \"0\"");
        }
    }

    @Test
    void aCheckLogsToStderr() throws Exception {
        try (var check = ServeProcess.serve(Map.of("SAGEMAKER_MODEL_SERVER_WORKER", "1"), "--workers", "3", "check")) {
            assertThat(check.exitCode()).isZero();
            assertThat(check.out()).containsPattern("workers +3,").doesNotContain("WARN");
            assertThat(check.err()).contains("WARN").contains("did you mean SAGEMAKER_MODEL_SERVER_WORKERS?");
        }
    }
}
