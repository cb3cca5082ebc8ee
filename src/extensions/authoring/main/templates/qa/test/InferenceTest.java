import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.berth.hooks.LocalModel;
import dev.berth.hooks.MediaType;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;

class InferenceTest {

    private static final Path ARTIFACT = Path.of(System.getProperty("artifact", "."));

    @Test
    void anAnswerSaysWhetherItIsSure() throws Exception {
        try (var model = LocalModel.load(new Inference(ARTIFACT), ARTIFACT)) {
            assertEquals(
                    "{\"answers\":[{\"answer\":\"Ann\",\"sure\":true}]}",
                    model.invoke(MediaType.JSON, "{\"question\": \"Who left?\", \"context\": \"Ann left.\"}"));
        }
    }
}
