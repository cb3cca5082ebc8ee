package dev.berth.qa;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.berth.StartException;
import dev.berth.testing.CapturedLog;
import dev.berth.testing.TestArtifact;
import dev.berth.testing.TestServer;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// The artifact's own test, which the server takes before it is ready.
class SampleTest {

  private static final String QUESTION = "{\"question\": \"Who came?\", \"context\": \"Bob came with Alice.\"}";

  @TempDir
  private Path artifact;

  @BeforeEach
  void makeTheArtifact() throws Exception {
    TestArtifact.dynamic(artifact, "waves.pt");
    Files.writeString(artifact.resolve("sample.json"), QUESTION);
  }

  @Test
  void theAnswerOfTheTraceIsExpectedAgain() throws Exception {
    Files.writeString(artifact.resolve("sample-response.json"), answer());
    try (var server = TestServer.artifact(artifact).start()) {
      assertThat(server.get("/ping").statusCode()).isEqualTo(200);
    }
  }

  @Test
  void anAnswerThatIsAboutAsGoodIsAWarning() throws Exception {
    Files.writeString(artifact.resolve("sample-response.json"), answer().replaceFirst("\"start\":\\d+", "\"start\":1"));
    try (var log = new CapturedLog(); var server = TestServer.artifact(artifact).start()) {
      assertThat(server.get("/ping").statusCode()).isEqualTo(200);
      assertThat(log.text()).contains("WARN sample.json: the model answers");
    }
  }

  @Test
  void anotherAnswerStopsTheStart() throws Exception {
    Files.writeString(artifact.resolve("sample-response.json"), "{\"answer\": \"o\", \"score\": -1, \"start\": 1, \"end\": 2}");
    assertStopsWith("sample.json: the model answers", "when it was traced it answered \"o\" (score -1.000)", "belong together");
  }

  @Test
  void aSampleThatIsNoRequestStopsTheStart() throws Exception {
    Files.writeString(artifact.resolve("sample.json"), "{\"question\": \"Who came?\"}");
    assertStopsWith("sample.json: context: found nothing");
    Files.writeString(artifact.resolve("sample.json"), QUESTION);
    Files.writeString(artifact.resolve("sample-response.json"), "[]");
    assertStopsWith("sample.json: it or sample-response.json can't be read");
  }

  @Test
  void parametersOfTheArtifactHoldWhereTheRequestHasNone() throws Exception {
    var question = "{\"inputs\": " + QUESTION + ", \"parameters\": {%s}}";
    try (var server = TestServer.artifact(artifact).start()) {
      assertThat(server.invoke(question.formatted("\"top_k\": 2")).body()).startsWith("[");
    }
    var model = Files.readString(artifact.resolve("model.json"));
    Files.writeString(artifact.resolve("model.json"), model.replaceFirst("\\{", "{\"parameters\": {\"top_k\": 2},"));
    try (var server = TestServer.artifact(artifact).start()) {
      assertThat(server.invoke(QUESTION).body()).startsWith("[");
      assertThat(server.invoke(question.formatted("\"top_k\": 1")).body()).startsWith("{");
    }
    Files.writeString(artifact.resolve("model.json"), model.replaceFirst("\\{", "{\"parameters\": {\"top_k\": 0},"));
    assertStopsWith("model.json: parameters.top_k: found 0, expected a whole number from 1 to 1000");
  }

  private String answer() throws Exception {
    try (var server = TestServer.artifact(artifact).start()) {
      return server.invoke(QUESTION).body();
    }
  }

  private void assertStopsWith(String... messages) throws Exception {
    try (var server = TestServer.artifact(artifact).startWithoutWaiting()) {
      assertThatThrownBy(() -> server.server().awaitReady()).isInstanceOf(StartException.class).message().contains(messages);
      assertThat(server.get("/ping").statusCode()).isEqualTo(503);
    }
  }
}
