import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.berth.hooks.LocalModel;
import dev.berth.hooks.MediaType;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;

class InferenceTest {

  private static final Path ARTIFACT = Path.of(System.getProperty("artifact", "."));

  @Test
  void anAnswerSaysWhetherItIsSure() throws Exception {
    try (var model = LocalModel.load(new Inference(ARTIFACT), ARTIFACT)) {
      var response = model.invoke(MediaType.JSON, "{\"question\": \"Who came?\", \"context\": \"Bob came.\"}");
      assertTrue(response.contains("\"answer\":\"Bob\""), response);
      assertTrue(response.contains("\"sure\":true"), response);
    }
  }
}
