package dev.berth.testing;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;
import static org.assertj.core.api.Assertions.withinPercentage;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/// Questions with the answers of Python, a line each, asked of a server.
public final class QuestionReference {

    /// How near the scores of exact logits are.
    public static final double EXACT = 1e-5;

    private static final ObjectMapper JSON = new ObjectMapper();

    private QuestionReference() {}

    public static Stream<JsonNode> lines(String file) throws IOException {
        var path = Path.of("src/test/resources/reference", file);
        var text = file.endsWith(".gz") ? Gzipped.text(path) : Files.readString(path);
        return JSON.readerFor(JsonNode.class).<JsonNode>readValues(text).readAll().stream();
    }

    public static JsonNode parameters(JsonNode line) {
        return line.path("parameters").isObject() ? line.path("parameters") : JSON.createObjectNode();
    }

    /// @param sameSpans whether the answers are the same, beside their scores
    public static void check(TestServer server, JsonNode line, double tolerance, boolean sameSpans) throws Exception {
        var context = context(line.path("context"));
        var inputs = Map.of("question", line.path("question"), "context", context);
        var response = server.invoke(
                JSON.writeValueAsString(Map.of("inputs", inputs, "parameters", parameters(line))),
                "Content-Type",
                "application/json");
        assertThat(response.statusCode()).as(response.body()).isEqualTo(200);
        var body = JSON.readTree(response.body());
        var answers = body.isArray() ? body : JSON.createArrayNode().add(body);
        var expected = line.path("answers");
        assertThat(answers).hasSameSizeAs(expected);
        for (int i = 0; i < expected.size(); i++) {
            var answer = answers.path(i);
            for (var part : sameSpans ? List.of("answer", "start", "end") : List.<String>of()) {
                assertThat(answer.path(part)).isEqualTo(expected.path(i).path(part));
            }
            var score = expected.path(i).path("score").asDouble();
            assertThat(answer.path("score").asDouble()).isCloseTo(score, within(tolerance));
            if (tolerance == EXACT) {
                assertThat(answer.path("score").asDouble()).isCloseTo(score, withinPercentage(0.01));
            }
            assertThat(context.substring(
                            context.offsetByCodePoints(0, answer.path("start").asInt()),
                            context.offsetByCodePoints(0, answer.path("end").asInt())))
                    .isEqualTo(answer.path("answer").asText());
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
