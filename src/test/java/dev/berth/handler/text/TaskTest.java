package dev.berth.handler.text;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.berth.testing.TestServer;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/// Every task, for three families of models: the server answers as the pipeline of `transformers` does, whose answers
/// `trace/task_fixtures.py` has written down.
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
    try (var server = TestServer.artifact(artifact).start()) {
      for (var line : Files.readAllLines(artifact.resolve("expected.jsonl"))) {
        var expected = JSON.readTree(line);
        var response = server.invoke(expected.path("request").toString(), "Content-Type", "application/json");
        assertThat(response.statusCode()).as("%s: %s", line, response.body()).isEqualTo(200);
        var found = JSON.readTree(response.body());
        assertThat(found.equals(TaskTest::compare, expected.path("answer")))
            .as("%s%nanswered %s", line, found).isTrue();
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
