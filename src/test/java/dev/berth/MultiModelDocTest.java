package dev.berth;

import static dev.berth.testing.CodeBlock.run;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.berth.testing.CodeBlock;
import dev.berth.testing.ServeProcess;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// Does what `docs/multi-model.md` says, and compares the answers with those it shows.
@Tag("packaged")
class MultiModelDocTest {

    private static final String PAGE = "docs/multi-model.md";

    private static final ObjectMapper JSON = new ObjectMapper();

    @Test
    void itsDirectoryOfModelsAnswersAsItShows(@TempDir Path directory) throws Exception {
        var lines = block("mkdir my-models\n")
                .replace("my-models", directory.resolve("models").toString())
                .lines()
                .toList();
        for (var line : lines.subList(0, lines.size() - 1)) {
            run(line);
        }
        assertAnswers(lines.getLast(), "curl -s localhost:8080/models/qa/invoke");
    }

    @Test
    void itsCallsOfSageMakerAnswerAsItShows() throws Exception {
        assertAnswers(block("SAGEMAKER_MULTI_MODEL=true ./serve\n").strip(), "curl -s localhost:8080/models -H");
    }

    private static void assertAnswers(String serve, String firstCall) throws Exception {
        var blocks = CodeBlock.of(PAGE).stream().map(CodeBlock::text).toList();
        var calls = block(firstCall);
        var shown = blocks.get(blocks.indexOf(calls) + 1).lines().toList();
        assertThat(calls.lines()).hasSameSizeAs(shown);
        try (var server = ServeProcess.start(Map.of(), List.of("bash", "-c", "exec env " + serve))
                .awaitReady()) {
            var answers = calls.replace("localhost:8080", "127.0.0.1:" + server.port())
                    .lines()
                    .toList();
            for (int i = 0; i < shown.size(); i++) {
                assertSame(JSON.readTree(run(answers.get(i))), JSON.readTree(shown.get(i)));
            }
        }
    }

    /// Scores differ a little from one kind of CPU to another, and paths from one machine to another.
    private static void assertSame(JsonNode found, JsonNode shown) {
        if (shown.isObject()) {
            assertThat(found.fieldNames()).toIterable().containsExactlyElementsOf(shown::fieldNames);
            shown.fieldNames().forEachRemaining(name -> {
                switch (name) {
                    case "score" ->
                        assertThat(found.get(name).doubleValue())
                                .isCloseTo(shown.get(name).doubleValue(), within(0.1));
                    case "modelUrl" ->
                        assertThat(Path.of(found.get(name).textValue()).getFileName())
                                .isEqualTo(Path.of(shown.get(name).textValue()).getFileName());
                    default -> assertSame(found.get(name), shown.get(name));
                }
            });
        } else if (shown.isArray()) {
            assertThat(found).hasSameSizeAs(shown);
            for (int i = 0; i < shown.size(); i++) {
                assertSame(found.get(i), shown.get(i));
            }
        } else {
            assertThat(found).isEqualTo(shown);
        }
    }

    private static String block(String start) throws IOException {
        return CodeBlock.beginning(start, CodeBlock.of(PAGE));
    }
}
