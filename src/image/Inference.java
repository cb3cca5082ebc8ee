import dev.berth.handler.qa.QuestionAnsweringHandler;
import java.nio.file.Path;

/// The built-in handler as a hook of the artifact, so that the training run compiles one.
public final class Inference extends QuestionAnsweringHandler {

    public Inference(Path modelDirectory) {
        super(modelDirectory);
    }
}
