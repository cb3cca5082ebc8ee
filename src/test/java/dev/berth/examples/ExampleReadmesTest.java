package dev.berth.examples;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.berth.testing.CodeBlock;
import dev.berth.testing.TestServer;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/// Does what each example's README says: starts its server, sends each request, and compares the
/// answer with the one that it shows.
@Tag("slow")
class ExampleReadmesTest {

    private static final ObjectMapper JSON = new ObjectMapper();
    /// Processors add in different orders.
    private static final double TOLERANCE = 0.01;

    @ParameterizedTest
    @CsvSource({
        "recommender,3",
        "mnist,2",
        "image-classification,3",
        "embeddings,2",
        "text-generation,2",
        "scikit-learn,4",
        "tabular,3",
        "text-to-image,1"
    })
    void itsCommandsGiveTheAnswersThatItShows(String name, int commands, @TempDir Path withLibraries) throws Exception {
        var example = Path.of("examples", name);
        var blocks = CodeBlock.of(example + "/README.md");
        assertThat(blocks.getFirst().text()).endsWith("./serve --model-dir examples/%s\n".formatted(name));
        int tried = 0;
        var artifact = example;
        if (name.equals("tabular")) {
            // As Maven would, the README says.
            TabularTest.putInto(withLibraries);
            artifact = withLibraries;
        }
        try (var server = TestServer.artifact(artifact).start()) {
            for (int i = 0; i + 1 < blocks.size(); i++) {
                var command = blocks.get(i).text();
                if (command.contains("curl ") && blocks.get(i + 1).language().equals("json")) {
                    var answer = values(CodeBlock.run(command.replace("localhost:8080", "127.0.0.1:" + server.port())));
                    assertThat(answer)
                            .usingElementComparator(ExampleReadmesTest::compare)
                            .isEqualTo(values(blocks.get(i + 1).text()));
                    tried++;
                }
            }
        }
        assertThat(tried).isEqualTo(commands);
    }

    @Test
    void everyExampleHasItsReadmeTried() throws IOException {
        try (var examples = Files.list(Path.of("examples"))) {
            assertThat(examples.filter(Files::isDirectory)
                            .map(example -> example.getFileName().toString()))
                    .containsExactlyInAnyOrder(
                            "recommender",
                            "mnist",
                            "image-classification",
                            "embeddings",
                            "text-generation",
                            "scikit-learn",
                            "tabular",
                            "text-to-image");
        }
    }

    /// The JSON of each line.
    private static List<JsonNode> values(String lines) {
        return lines.lines()
                .map(line -> {
                    try {
                        return JSON.readTree(line);
                    } catch (IOException e) {
                        throw new IllegalArgumentException(line, e);
                    }
                })
                .toList();
    }

    private static int compare(JsonNode a, JsonNode b) {
        return a.equals(ExampleReadmesTest::compareLeaves, b) ? 0 : 1;
    }

    private static int compareLeaves(JsonNode a, JsonNode b) {
        boolean same =
                (a.isNumber() && b.isNumber()) ? Math.abs(a.doubleValue() - b.doubleValue()) < TOLERANCE : a.equals(b);
        return same ? 0 : 1;
    }
}
