import dev.berth.content.Json;
import dev.berth.handler.task.TaskAnswer;
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
    public InvocationResponse outputFn(List<TaskAnswer> answers, InvocationRequest request) {
        var vectors = answers.stream().map(TaskAnswer::document).toList();
        return InvocationResponse.of(Json.write(Map.of("vectors", vectors)), request.accept());
    }
}
