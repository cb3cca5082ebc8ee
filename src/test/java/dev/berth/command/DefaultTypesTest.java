package dev.berth.command;

import static org.assertj.core.api.Assertions.assertThat;

import dev.berth.testing.TestArtifact;
import dev.berth.testing.TestServer;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/// Artifacts of `trace.py` where answers are no JSON unless somebody asks for it. Their samples are
/// compared with JSON nevertheless.
class DefaultTypesTest {

    private static final String DEFAULT = "SAGEMAKER_DEFAULT_INVOCATIONS_ACCEPT";
    private static final Path TASKS = Path.of("src/test/resources/tasks");

    private static List<Path> tasks() throws IOException {
        try (var tasks = Files.list(TASKS)) {
            return tasks.sorted().toList();
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"text/csv", "application/jsonlines"})
    @Tag("slow")
    void everyTaskIsLoadedWhateverTheDefaultIs(String type) throws Exception {
        try (var server = TestServer.ofModels().set(DEFAULT, type).start()) {
            for (var artifact : tasks()) {
                var loaded = server.load("m", artifact.toAbsolutePath());
                assertThat(loaded.statusCode()).as(loaded.body()).isEqualTo(200);
                server.unload("m");
            }
        }
    }

    @Test
    void aTorchScriptWithASampleIsServedToo(@TempDir Path directory) throws Exception {
        Files.copy(TestArtifact.TORCHSCRIPT.resolve("doubled.pt"), directory.resolve("model.pt"));
        Files.writeString(directory.resolve("sample.json"), "[1.5, 2]");
        Files.writeString(directory.resolve("sample-response.json"), "[3.0, 4.0]");
        for (var type : List.of("text/csv", "application/jsonlines")) {
            try (var server = TestServer.artifact(directory).set(DEFAULT, type).start()) {
                assertThat(server.invoke("[1.5, 2]", "Content-Type", "application/json")
                                .body())
                        .isEqualTo(type.equals("text/csv") ? "3.0,4.0" : "[3.0,4.0]");
            }
        }
    }
}
