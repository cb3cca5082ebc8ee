import dev.berth.content.Json;
import dev.berth.handler.text.EmbeddingHandler;
import dev.berth.hooks.InvocationRequest;
import dev.berth.hooks.InvocationResponse;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;

/// The ready task, whose vectors stand under a name.
public final class Inference extends EmbeddingHandler {

    public Inference(Path modelDirectory) {
        super(modelDirectory);
    }

    @Override
    public InvocationResponse outputFn(List<Object> answers, InvocationRequest request) {
        return InvocationResponse.of(Json.write(Map.of("vectors", answers)), request.accept());
    }
}
