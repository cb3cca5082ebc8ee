import dev.berth.hooks.*;
import java.io.IOException;
import java.util.List;

/// Hooks that do nothing, so that whatever a request takes is the server's own.
public final class Inference implements InferenceHandler<Void, byte[], byte[]> {

    @Override
    public Void modelFn(ModelContext context) {
        return null;
    }

    @Override
    public List<byte[]> inputFn(InvocationRequest request) throws IOException {
        return List.of(request.bytes());
    }

    @Override
    public List<byte[]> predictFn(List<byte[]> records, Void model) {
        return records;
    }

    @Override
    public InvocationResponse outputFn(List<byte[]> predictions, InvocationRequest request) {
        return InvocationResponse.of(predictions.getFirst(), MediaType.JSON);
    }
}
