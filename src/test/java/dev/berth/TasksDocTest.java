package dev.berth;

import static org.assertj.core.api.Assertions.assertThat;

import dev.berth.testing.CodeArtifact;
import dev.berth.testing.CodeBlock;
import dev.berth.testing.TestServer;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// The Java in `docs/tasks.md` is compiled and serves.
class TasksDocTest {

    private static final Path ARTIFACT = Path.of("src/test/resources/tasks/text-classification-bert");

    @Test
    void itsHookChangesABuiltInTask(@TempDir Path directory) throws Exception {
        for (var name : new String[] {"model.json", "model.pt", "tokenizer.json"}) {
            Files.copy(ARTIFACT.resolve(name), directory.resolve(name));
        }
        new CodeArtifact(directory)
                .file(
                        "code/Inference.java",
                        CodeBlock.texts("java", "docs/tasks.md").getFirst());
        try (var server = TestServer.artifact(directory).start()) {
            var response = server.invoke("[\"one\", \"two\"]", "Content-Type", "application/json");
            assertThat(response.headers().firstValue("X-Amzn-SageMaker-Custom-Attributes"))
                    .contains("answers=2");
            assertThat(response.body()).contains("\"label\"");
        }
    }
}
