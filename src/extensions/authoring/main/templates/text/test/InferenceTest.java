import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import dev.berth.hooks.BadInputException;
import dev.berth.hooks.LocalModel;
import dev.berth.hooks.MediaType;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;

class InferenceTest {

    private static final Path ARTIFACT = Path.of(System.getProperty("artifact", "."));

    @Test
    void praiseIsPositive() throws Exception {
        try (var model = LocalModel.load(new Inference(ARTIFACT), ARTIFACT)) {
            assertEquals(
                    "{\"label\":\"positive\",\"score\":0.881}",
                    model.invoke(MediaType.JSON, "{\"text\": \"Wonderful!\"}"));
            assertEquals(
                    "{\"label\":\"negative\",\"score\":0.858}",
                    model.invoke(MediaType.JSON, "{\"text\": \"Boring.\"}"));
            assertEquals("{\"label\":\"positive\",\"score\":0.5}", model.invoke(MediaType.JSON, "{\"text\": \"\"}"));
        }
    }

    @Test
    void aRequestWithoutATextIsRefused() throws Exception {
        try (var model = LocalModel.load(new Inference(ARTIFACT), ARTIFACT)) {
            var refused = assertThrows(BadInputException.class, () -> model.invoke(MediaType.JSON, "{\"text\": 3}"));
            assertEquals("text: found 3, expected a text", refused.getMessage());
        }
    }
}
