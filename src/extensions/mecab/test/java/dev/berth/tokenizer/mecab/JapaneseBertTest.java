package dev.berth.tokenizer.mecab;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.berth.testing.JapaneseArtifact;
import dev.berth.testing.TestServer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// A BERT whose words MeCab cuts, asked over HTTP. The answers are those of Python's MeCab,
/// tokenizers and torch.
class JapaneseBertTest {

    private static final ObjectMapper JSON = new ObjectMapper();
    private static final Path REFERENCE = Path.of("src/test/resources/reference/japanese-bert.jsonl");

    @Test
    void itAnswersAsInPythonAndInWholeWords(@TempDir Path directory) throws Exception {
        try (var server = TestServer.artifact(JapaneseArtifact.write(directory)).start()) {
            for (var line : Files.readAllLines(REFERENCE)) {
                var expected = JSON.readTree(line);
                var inputs =
                        Map.of("question", expected.path("question"), "context", context(expected.path("context")));
                var parameters =
                        expected.path("parameters").isObject() ? expected.path("parameters") : JSON.createObjectNode();
                var response = server.invoke(
                        JSON.writeValueAsString(Map.of("inputs", inputs, "parameters", parameters)),
                        "Content-Type",
                        "application/json");
                assertThat(response.statusCode()).as(response.body()).isEqualTo(200);
                var body = JSON.readTree(response.body());
                var answer = body.isArray() ? body.path(0) : body;
                var best = expected.path("answers").path(0);
                assertThat(answer.path("answer")).as(line).isEqualTo(best.path("answer"));
                assertThat(answer.path("start")).as(line).isEqualTo(best.path("start"));
                assertThat(answer.path("end")).as(line).isEqualTo(best.path("end"));
                assertThat(answer.path("score").asDouble())
                        .as(line)
                        .isCloseTo(best.path("score").asDouble(), within(1e-3));
            }
        }
    }

    /// A long context is written as a list of texts and of `{"repeat": text, "times": n}`.
    private static String context(JsonNode context) {
        return context.isTextual()
                ? context.asText()
                : context.valueStream()
                        .map(part -> part.isTextual()
                                ? part.asText()
                                : part.path("repeat")
                                        .asText()
                                        .repeat(part.path("times").asInt()))
                        .collect(Collectors.joining());
    }
}
