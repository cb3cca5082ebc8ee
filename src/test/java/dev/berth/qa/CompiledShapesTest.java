package dev.berth.qa;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.berth.testing.TestServer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// An artifact of one compiled shape, as for Neuron, whose TorchScript refuses any other: rows are padded to it in both
/// directions, and long contexts are read through windows of its length.
class CompiledShapesTest {

  private static final ObjectMapper JSON = new ObjectMapper();

  @Test
  void rowsArePaddedToTheCompiledShapeWhateverTheirLengthAndNumber(@TempDir Path directory) throws Exception {
    var model = (ObjectNode) JSON.readTree(TestServer.SAMPLE_ARTIFACT.resolve("model.json").toFile());
    model.put("shapes", "compiled");
    ((ObjectNode) model.path("files").path(0)).put("batch", 2).put("sequence", 32);
    JSON.writeValue(directory.resolve("model.json").toFile(), model);
    Files.copy(Path.of("src/test/resources/torchscript/fixed-shape.pt"), directory.resolve("model.pt"));
    Files.createSymbolicLink(directory.resolve("tokenizer.json"), TestServer.SAMPLE_ARTIFACT.resolve("tokenizer.json"));

    try (var server = TestServer.sample().set("BERTH_MODEL_DIR", directory.toString()).start()) {
      for (int words : new int[] {1, 10, 26, 27, 60, 1000}) {
        var context = "Bob came. ".repeat(words).strip();
        var response = server.invoke(JSON.writeValueAsString(Map.of("question", "Who came?", "context", context)));
        assertThat(response.statusCode()).as(response.body()).isEqualTo(200);
        var answer = JSON.readTree(response.body());
        assertThat(context.substring(answer.path("start").asInt(), answer.path("end").asInt()))
            .isEqualTo(answer.path("answer").asText());
      }
      var tooLong = "{\"inputs\": {\"question\": \"Who?\", \"context\": \"Bob.\"}, \"parameters\": {\"max_seq_len\": 64}}";
      assertThat(server.invoke(tooLong).body()).contains("max_seq_len: found 64, expected a whole number from 1 to 32");
    }
  }
}
