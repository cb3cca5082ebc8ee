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

public final class Inference extends TensorHandler {
    public Inference(Path modelDirectory) {
        super(modelDirectory);
    }

    @Override
    public List<MediaType> requestTypes() {
        return List.of(MediaType.JSON);
    }

    @Override
    public List<List<Tensor>> inputFn(InvocationRequest request) throws IOException {
        var records = new ArrayList<List<Tensor>>();
        for (var flat : Json.read(request).path("flats")) {
            if (!flat.path("rooms").isNumber()) {
                throw new BadInputException("rooms: expected a number");
            }
            float[] row = {
                flat.path("squareMetres").floatValue(), flat.path("rooms").floatValue()
            };
            records.add(List.of(Tensor.of(row, 2)));
        }
        return records;
    }

    @Override
    public InvocationResponse outputFn(List<List<Tensor>> predictions, InvocationRequest request) {
        var prices = predictions.stream()
                .map(outputs -> outputs.getFirst().floats()[0])
                .toList();
        return InvocationResponse.of(Json.write(Map.of("prices", prices)), MediaType.JSON);
    }
}
