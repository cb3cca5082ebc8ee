package dev.berth;

import static org.assertj.core.api.Assertions.assertThat;

import dev.berth.testing.ServeProcess;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// `./conformance` asks Berth.
@Tag("packaged")
class ConformanceTest {

    private static final String LINES = """
      {"question": "Who came?", "context": "Bob came."}
      {"question": "Where was Marie Curie born?", "context": "Marie Curie was born in Warsaw."}
      """;

    @TempDir
    private Path directory;

    @Test
    void theSampleHoldsEveryRow() throws Exception {
        var lines = Files.writeString(directory.resolve("lines.jsonl"), LINES).toString();
        try (var server = ServeProcess.serve(Map.of("INSTANCE_TYPE", "cpu")).awaitReady();
                var kit = conformance(
                        server.uri("/").toString(), "--body", "model-artifact/sample.json", "--lines", lines)) {
            assertThat(kit.exitCode()).as(kit.out() + kit.err()).isZero();
            assertThat(kit.out())
                    .contains("PING-01  P0  holds", "INV-07   P   holds", "BAT-07   P   holds", "BIDI-03  P   holds")
                    .contains("SES-01   P   not asked  it has no sessions: 400")
                    .contains("missed: 0");
        }
    }

    @Test
    void manyModelsHoldEveryRow() throws Exception {
        try (var server = ServeProcess.serve(Map.of("INSTANCE_TYPE", "cpu", "SAGEMAKER_MULTI_MODEL", "true"))
                        .awaitReady();
                var kit = conformance(
                        server.uri("/").toString(),
                        "--body",
                        "model-artifact/sample.json",
                        "--model-url",
                        Path.of("model-artifact").toAbsolutePath().toString(),
                        "--except",
                        "PING-06")) {
            assertThat(kit.exitCode()).as(kit.out() + kit.err()).isZero();
            assertThat(kit.out())
                    .contains("MME-01   P0  holds", "MME-16   R   holds")
                    .contains("missed: 0");
        }
    }

    /// Runs it where nothing of Berth is built. Its limits of time are 100 times as long: CI machines
    /// are busy.
    private ServeProcess conformance(String... arguments) throws IOException {
        for (var needed :
                List.of(Path.of("conformance"), Path.of("tools/conformance"), Path.of("docs/internals/contract.md"))) {
            try (var files = Files.walk(needed)) {
                for (var file : files.filter(Files::isRegularFile).toList()) {
                    Files.createDirectories(directory.resolve(file).getParent());
                    Files.copy(
                            file,
                            directory.resolve(file),
                            StandardCopyOption.REPLACE_EXISTING,
                            StandardCopyOption.COPY_ATTRIBUTES);
                }
            }
        }
        var command = new ArrayList<>(List.of(directory.resolve("conformance").toString()));
        command.addAll(List.of(arguments));
        command.addAll(List.of("--patience", "100", "--timeout", "300"));
        return ServeProcess.start(Map.of(), command);
    }
}
