import dev.berth.hooks.InvocationRequest;
import dev.berth.hooks.InvocationResponse;
import dev.berth.hooks.MediaType;
import dev.berth.testing.TextHandler;
import java.io.IOException;
import java.util.Arrays;
import java.util.List;

/// Answers records with themselves, unless they ask for a fault.
public final class Inference extends TextHandler {

    @Override
    public List<String> inputFn(InvocationRequest request) throws IOException {
        var records = super.inputFn(request);
        return switch (Faults.in("inputFn", records)) {
            case "null" -> null;
            case "null record" -> Arrays.asList("fine", null, "fine");
            default -> records;
        };
    }

    @Override
    public int length(String record) {
        return switch (Faults.in("length", List.of(record))) {
            case "negative" -> -1;
            case "zero" -> 0;
            default -> 1;
        };
    }

    @Override
    public List<String> predictFn(List<String> records, Object model) {
        return switch (Faults.in("predictFn", records)) {
            case "null" -> null;
            case "null prediction" -> Arrays.asList((String) null);
            case "too many" -> List.of("a", "b");
            case "too few" -> List.of();
            default -> records;
        };
    }

    @Override
    public InvocationResponse outputFn(List<String> predictions, InvocationRequest request) throws IOException {
        return switch (Faults.in("outputFn", predictions)) {
            case "null" -> null;
            case "null body" -> InvocationResponse.of((byte[]) null, MediaType.TEXT);
            default -> super.outputFn(predictions, request);
        };
    }
}
