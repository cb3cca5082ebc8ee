package dev.berth;

import static dev.berth.testing.TestServer.assertStatus;
import static org.assertj.core.api.Assertions.assertThat;

import dev.berth.testing.TestServer;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/// The programs of `tools/bench/authors` answer, and have as many lines as the table in its README
/// says.
class AuthorsTest {

    private static final Path PROGRAMS = Path.of("tools/bench/authors");

    @TempDir
    private Path artifact;

    @Test
    void theLinearModelAnswers() throws Exception {
        Files.copy(Path.of("examples/tabular/model.pt"), artifact.resolve("model.pt"));
        try (var server = serving("linear")) {
            var flat = "{\"flats\": [{\"squareMetres\": 70, \"rooms\": 3}]}";
            assertThat(server.invoke(flat, "Content-Type", "application/json").body())
                    .isEqualTo("{\"prices\":[520.0]}");
            var refused = server.invoke("{\"flats\": [{\"squareMetres\": 70}]}", "Content-Type", "application/json");
            assertStatus(refused, 400, "rooms: expected a number");
        }
    }

    @Test
    void theStreamAnswersPartByPart() throws Exception {
        try (var server = serving("streaming")) {
            var answer = server.invoke(
                    "{\"last\": 3}", "Content-Type", "application/json", "Accept", "application/jsonlines");
            assertThat(answer.body()).isEqualTo("{\"number\":1}\n{\"number\":2}\n{\"number\":3}\n");
        }
    }

    @ParameterizedTest
    @CsvSource({
        "linear model, 1, linear/berth/code/Inference.java",
        "linear model, 2, linear/litserve_app.py",
        "linear model, 3, linear/inference.py",
        "BERT classifier, 2, classifier/litserve_app.py",
        "BERT classifier, 3, classifier/inference.py",
        "a stream, 1, streaming/berth/code/Inference.java",
        "a stream, 2, streaming/litserve_app.py"
    })
    void theTableCountsItsLines(String model, int server, String program) throws IOException {
        var row = Files.readString(PROGRAMS.resolve("README.md"))
                .lines()
                .filter(line -> line.startsWith("| " + model) && line.contains("lines + imports"))
                .findFirst()
                .orElseThrow();
        assertThat(row.split("\\|")[server + 2].strip())
                .as(row)
                .isEqualTo(count(Files.readString(PROGRAMS.resolve(program))));
    }

    /// The rule of `tools/bench/authors/README.md`.
    static String count(String program) {
        var lines = program.lines()
                .map(String::strip)
                .filter(line -> !line.isEmpty()
                        && !line.startsWith("//")
                        && !line.startsWith("#")
                        && !line.startsWith("\"\"\""))
                .toList();
        long imports = lines.stream()
                .filter(line -> line.startsWith("import ") || line.startsWith("from "))
                .count();
        return "%d + %d".formatted(lines.size() - imports, imports);
    }

    private TestServer serving(String model) throws Exception {
        var code = Files.createDirectory(artifact.resolve("code"));
        Files.copy(PROGRAMS.resolve(model).resolve("berth/code/Inference.java"), code.resolve("Inference.java"));
        return TestServer.artifact(artifact).start();
    }
}
