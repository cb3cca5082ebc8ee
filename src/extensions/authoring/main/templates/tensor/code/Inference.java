import com.fasterxml.jackson.databind.JsonNode;
import dev.berth.content.Excerpt;
import dev.berth.content.Instances;
import dev.berth.content.Json;
import dev.berth.handler.tensor.TensorHandler;
import dev.berth.hooks.BadInputException;
import dev.berth.hooks.InvocationRequest;
import dev.berth.hooks.InvocationResponse;
import dev.berth.hooks.MediaType;
import dev.berth.hooks.Tensor;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/// Says what a flat may cost, from its size and its rooms. The TorchScript in `model.pt` takes rows
/// of those two numbers.
///
/// `TensorHandler` loads the model, batches and predicts. Delete this file, `sample.json` and
/// `sample-response.json`, and it also reads and writes: JSON such as `[[70, 3]]`, CSV, NumPy
/// arrays. The hooks below give the numbers names.
public final class Inference extends TensorHandler {

    /// The server makes one of these, and gives it the directory of the model artifact.
    public Inference(Path modelDirectory) {
        super(modelDirectory);
    }

    /// The content types that `inputFn` reads; all others are refused before it is called.
    @Override
    public List<MediaType> requestTypes() {
        return List.of(MediaType.JSON);
    }

    @Override
    public List<MediaType> responseTypes() {
        return List.of(MediaType.JSON);
    }

    /// Bytes to records, on a thread for hooks. A record is what the model takes for one prediction:
    /// here one tensor without a batch dimension, as the model has one input.
    @Override
    public List<List<Tensor>> inputFn(InvocationRequest request) throws IOException {
        var records = new ArrayList<List<Tensor>>();
        // One flat, a list of flats, or {"instances": [...]}.
        for (var flat : Instances.read(request.json()).values()) {
            var numbers = new float[2];
            numbers[0] = (float) number(flat, "squareMetres");
            numbers[1] = (float) number(flat, "rooms");
            records.add(List.of(Tensor.of(numbers, 2)));
        }
        return records;
    }

    // predictFn is TensorHandler's: it stacks the records of several requests and runs the model.

    /// Predictions to bytes, one for each record in their order.
    @Override
    public InvocationResponse outputFn(List<List<Tensor>> predictions, InvocationRequest request) {
        var prices = predictions.stream()
                .map(outputs -> outputs.getFirst().floats()[0])
                .toList();
        return InvocationResponse.of(Json.write(Map.of("prices", prices)), MediaType.JSON);
    }

    /// What is thrown as BadInputException becomes the caller's 400, with this message.
    private static double number(JsonNode flat, String field) {
        var value = flat.path(field);
        if (!value.isNumber()) {
            throw new BadInputException("%s: found %s, expected a number".formatted(field, Excerpt.of(value)));
        }
        return value.doubleValue();
    }
}
