import dev.berth.content.Json;
import dev.berth.handler.tensor.TensorHandler;
import dev.berth.hooks.InvocationRequest;
import dev.berth.hooks.InvocationResponse;
import dev.berth.hooks.MediaType;
import dev.berth.hooks.Tensor;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;

/// Any form of rows, with the JSON of `inference.py`.
public final class Inference extends TensorHandler {

    public Inference(Path modelDirectory) {
        super(modelDirectory);
    }

    @Override
    public InvocationResponse outputFn(List<List<Tensor>> predictions, InvocationRequest request) throws IOException {
        if (!request.accept().equals(MediaType.JSON)) {
            return super.outputFn(predictions, request);
        }
        var scores = predictions.stream()
                .map(outputs -> outputs.getFirst().floats()[0])
                .toList();
        return InvocationResponse.of(Json.write(Map.of("predictions", scores)), request.accept());
    }
}
