import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import dev.berth.hooks.BadInputException;
import dev.berth.hooks.LocalModel;
import dev.berth.hooks.MediaType;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;

class InferenceTest {

    private static final Path ARTIFACT = Path.of(System.getProperty("artifact", "."));

    @Test
    void theSampleIsASeven() throws Exception {
        try (var model = LocalModel.load(new Inference(ARTIFACT), ARTIFACT)) {
            var picture = Files.readAllBytes(ARTIFACT.resolve("sample.png"));
            var response = model.invoke(MediaType.IMAGE, picture, MediaType.JSON);
            assertEquals("{\"predictions\":7}", new String(response.body()));
        }
    }

    @Test
    void whatIsNoPictureIsRefused() throws Exception {
        try (var model = LocalModel.load(new Inference(ARTIFACT), ARTIFACT)) {
            assertThrows(BadInputException.class, () -> model.invoke(MediaType.IMAGE, new byte[] {1}, MediaType.JSON));
        }
    }
}
