import com.fasterxml.jackson.databind.JsonNode;
import dev.berth.content.JsonLines;
import dev.berth.hooks.BadInputException;
import dev.berth.hooks.InferenceHandler;
import dev.berth.hooks.InvocationRequest;
import dev.berth.hooks.InvocationResponse;
import dev.berth.hooks.MediaType;
import dev.berth.hooks.ModelContext;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.concurrent.locks.LockSupport;

/// How long a text is. Some texts do what tests need.
public final class Inference implements InferenceHandler<Path, String, Integer> {

    @Override
    public List<MediaType> requestTypes() {
        return List.of(MediaType.JSON_LINES, MediaType.JSON);
    }

    @Override
    public Path modelFn(ModelContext context) {
        return context.modelDirectory();
    }

    @Override
    public List<String> inputFn(InvocationRequest request) throws IOException {
        return JsonLines.read(request).stream()
                .map(JsonLines.Line::json)
                .map(Inference::text)
                .toList();
    }

    private static String text(JsonNode record) {
        if (!record.path("text").isTextual()) {
            throw new BadInputException("text: expected a text");
        }
        return record.path("text").textValue();
    }

    @Override
    public List<Integer> predictFn(List<String> texts, Path directory) throws IOException {
        for (var text : texts) {
            switch (text) {
                case "rejected" -> throw new BadInputException("text: found one that is rejected");
                case "broken" -> throw new IllegalStateException("the model is broken");
                case "held" -> hold(directory);
                default -> {}
            }
        }
        return texts.stream().map(String::length).toList();
    }

    /// Says which process holds the text, and goes on when it may.
    private static void hold(Path directory) throws IOException {
        Files.writeString(directory.resolve("held-by-" + ProcessHandle.current().pid()), "");
        while (!Files.exists(directory.resolve("go"))) {
            LockSupport.parkNanos(1_000_000);
        }
    }

    @Override
    public InvocationResponse outputFn(List<Integer> lengths, InvocationRequest request) {
        var answers = lengths.stream().map(length -> Map.of("length", length)).toList();
        return InvocationResponse.of(JsonLines.write(answers), request.accept());
    }
}
