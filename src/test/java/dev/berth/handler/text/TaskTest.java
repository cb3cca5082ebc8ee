package dev.berth.handler.text;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.berth.testing.Gzipped;
import dev.berth.testing.TestServer;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/// Every task, for three families of models: the server answers as the pipeline of `transformers`
/// does, whose answers `trace/task_fixtures.py` has written down.
class TaskTest {

    static final Path TASKS = Path.of("src/test/resources/tasks").toAbsolutePath();

    private static final ObjectMapper JSON = new ObjectMapper();
    private static final double TOLERANCE = 1e-4;

    static Path[] artifacts() throws Exception {
        try (var directories = Files.list(TASKS)) {
            return directories.sorted().toArray(Path[]::new);
        }
    }

    @ParameterizedTest
    @MethodSource("artifacts")
    void theServerAnswersAsThePipeline(Path artifact) throws Exception {
        assertAnswers(artifact, recorded(artifact));
    }

    /// As on Neuron: rows are padded to the shape of a file, and the output is cut again.
    @ParameterizedTest
    @ValueSource(
            strings = {
                "text-classification-roberta",
                "sentence-embeddings-bert",
                "token-classification-distilbert",
                "fill-mask-bert"
            })
    void compiledShapesAnswerAsAnyShapeDoes(String name, @TempDir Path directory) throws Exception {
        var artifact = TASKS.resolve(name);
        try (var files = Files.list(artifact)) {
            for (var file : files.toList()) {
                Files.copy(file, directory.resolve(file.getFileName()));
            }
        }
        var model = (ObjectNode) JSON.readTree(artifact.resolve("model.json").toFile());
        int longest = model.path("maxSequenceLength").intValue();
        model.put("shapes", "compiled")
                .putArray("files")
                .add(JSON.createObjectNode()
                        .put("path", "model.pt")
                        .put("batch", 4)
                        .put("sequence", 12))
                .add(JSON.createObjectNode()
                        .put("path", "model.pt")
                        .put("batch", 2)
                        .put("sequence", longest));
        JSON.writeValue(directory.resolve("model.json").toFile(), model);
        assertAnswers(directory, recorded(artifact));
    }

    private static List<String> recorded(Path artifact) throws IOException {
        return Gzipped.text(artifact.resolve("expected.jsonl.gz")).lines().toList();
    }

    private static void assertAnswers(Path artifact, List<String> lines) throws Exception {
        try (var server = TestServer.artifact(artifact).start()) {
            for (var line : lines) {
                var expected = JSON.readTree(line);
                var found =
                        TestServer.json(server.invoke(expected.path("request").toString()), 200);
                assertThat(found.equals(TaskTest::compare, expected.path("answer")))
                        .as("%s%nanswered %s", line, found)
                        .isTrue();
            }
        }
    }

    static int compare(JsonNode one, JsonNode other) {
        if (one.isNumber() && other.isNumber()) {
            return Math.abs(one.doubleValue() - other.doubleValue()) <= TOLERANCE ? 0 : 1;
        }
        return one.equals(other) ? 0 : 1;
    }
}
