import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import dev.berth.hooks.BadInputException;
import dev.berth.hooks.LocalModel;
import dev.berth.hooks.MediaType;
import dev.berth.image.Image;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;

class InferenceTest {

    private static final Path ARTIFACT = Path.of(System.getProperty("artifact", "."));
    private static final byte[] VALUES = "{\"values\": [[0, 0.5], [1, 0.2]]}".getBytes(StandardCharsets.UTF_8);

    @Test
    void eachNumberIsASquare() throws Exception {
        try (var model = LocalModel.load(new Inference(), ARTIFACT)) {
            var response = model.invoke(MediaType.JSON, VALUES, MediaType.of("image", "png"));
            var grey = Image.read(response.body()).grey().data();
            assertEquals(32 * 32, grey.remaining());
            assertEquals(0, grey.get(0));
            assertEquals(128, grey.get(31) & 0xff);
            assertEquals(51, grey.get(32 * 32 - 1) & 0xff);
            assertEquals(
                    "image/jpeg",
                    model.invoke(MediaType.JSON, VALUES, MediaType.of("image", "jpeg"))
                            .contentType()
                            .toString());
        }
    }

    @Test
    void noNumbersAreRefused() throws Exception {
        try (var model = LocalModel.load(new Inference(), ARTIFACT)) {
            assertThrows(
                    BadInputException.class,
                    () -> model.invoke(
                            MediaType.JSON, "{\"values\": []}".getBytes(StandardCharsets.UTF_8), MediaType.ANY));
        }
    }
}
