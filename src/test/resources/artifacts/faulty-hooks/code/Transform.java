import dev.berth.hooks.InvocationRequest;
import dev.berth.hooks.InvocationResponse;
import dev.berth.hooks.MediaType;
import dev.berth.hooks.ModelContext;
import dev.berth.hooks.TransformHandler;
import java.io.IOException;
import java.util.List;

/// Answers a request with its body, unless that asks for a fault.
final class Transform implements TransformHandler<Void> {

    @Override
    public Void modelFn(ModelContext context) {
        return null;
    }

    @Override
    public InvocationResponse transformFn(InvocationRequest request, Void model) throws IOException {
        var text = request.text();
        return switch (Faults.in("transformFn", List.of(text))) {
            case "null" -> null;
            default -> InvocationResponse.of(text, MediaType.TEXT);
        };
    }
}
