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
    void aFlatHasAPrice() throws Exception {
        try (var model = LocalModel.load(new Inference(ARTIFACT), ARTIFACT)) {
            assertEquals("{\"prices\":[520.0]}", model.invoke(MediaType.JSON, "{\"squareMetres\": 70, \"rooms\": 3}"));
            assertEquals("{\"prices\":[]}", model.invoke(MediaType.JSON, "[]"));
        }
    }

    @Test
    void aFlatWithoutRoomsIsRefused() throws Exception {
        try (var model = LocalModel.load(new Inference(ARTIFACT), ARTIFACT)) {
            var refused =
                    assertThrows(BadInputException.class, () -> model.invoke(MediaType.JSON, "{\"squareMetres\": 70}"));
            assertEquals("rooms: found nothing, expected a number", refused.getMessage());
        }
    }
}
