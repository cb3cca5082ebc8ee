import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import dev.berth.hooks.BadInputException;
import dev.berth.hooks.LocalModel;
import dev.berth.hooks.MediaType;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;

class InferenceTest {

    private static final Path ARTIFACT = Path.of(System.getProperty("artifact", "."));

    @Test
    void theTextIsTheSameAsAWholeAndInParts() throws Exception {
        try (var model = LocalModel.load(new Inference(), ARTIFACT)) {
            assertEquals("{\"text\":\"Here a storm comes\"}", model.invoke(MediaType.JSON, "{\"prompt\": \"Here a\"}"));
            var prompt = "{\"prompt\": \"Here a\"}".getBytes(StandardCharsets.UTF_8);
            var parts = model.stream(MediaType.JSON, prompt, MediaType.EVENT_STREAM);
            assertEquals(2, parts.size());
            assertEquals("{\"text\":\" storm\"}", new String(parts.getFirst(), StandardCharsets.UTF_8));
        }
    }

    @Test
    void aRequestWithoutAPromptIsRefused() throws Exception {
        try (var model = LocalModel.load(new Inference(), ARTIFACT)) {
            var refused = assertThrows(BadInputException.class, () -> model.invoke(MediaType.JSON, "{}"));
            assertEquals("prompt: found nothing, expected a text", refused.getMessage());
        }
    }
}
