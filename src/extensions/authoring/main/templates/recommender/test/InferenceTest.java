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
    void likeFilmsComeFirst() throws Exception {
        try (var model = LocalModel.load(new Inference(), ARTIFACT)) {
            assertEquals(
                    "{\"films\":[\"Notorious\",\"Paddington\",\"Solaris\"]}",
                    model.invoke(MediaType.JSON, "{\"film\": \"Casablanca\"}"));
        }
    }

    @Test
    void anUnknownFilmIsRefused() throws Exception {
        try (var model = LocalModel.load(new Inference(), ARTIFACT)) {
            assertThrows(BadInputException.class, () -> model.invoke(MediaType.JSON, "{\"film\": \"Unheard of\"}"));
        }
    }
}
