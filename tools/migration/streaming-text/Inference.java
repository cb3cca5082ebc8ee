import dev.berth.content.Excerpt;
import dev.berth.content.Fields;
import dev.berth.content.Json;
import dev.berth.engine.Graph;
import dev.berth.handler.task.Labels;
import dev.berth.hooks.InvocationRequest;
import dev.berth.hooks.InvocationResponse;
import dev.berth.hooks.MediaType;
import dev.berth.hooks.ModelContext;
import dev.berth.hooks.PartStream;
import dev.berth.hooks.StreamingHandler;
import dev.berth.hooks.Tensor;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/// Writes text token by token, many texts at the same time.
public final class Inference implements StreamingHandler<Graph, Inference.Prompt, String, Inference.Text> {

    record Prompt(List<Long> tokens, int count) {}

    /// What is written so far.
    record Text(List<Long> tokens, int last) {}

    private final List<String> vocabulary;

    public Inference(Path modelDirectory) throws IOException {
        var json = Files.readString(modelDirectory.resolve("vocabulary.json"));
        vocabulary = Json.parse(json, "vocabulary.json")
                .valueStream()
                .map(w -> w.asText())
                .toList();
    }

    @Override
    public Graph modelFn(ModelContext context) {
        return Graph.load(context.modelDirectory().resolve("model.pt"), context.accelerator());
    }

    @Override
    public List<MediaType> requestTypes() {
        return List.of(MediaType.JSON);
    }

    @Override
    public List<Prompt> inputFn(InvocationRequest request) throws IOException {
        var fields = Fields.of(Json.read(request), "body", List.of("prompt", "max_new_tokens"));
        var prompt = fields.text("prompt").orElseThrow(() -> fields.bad("prompt", "a text"));
        var tokens = new ArrayList<Long>();
        for (var word : prompt.split(" ")) {
            if (!vocabulary.contains(word)) {
                throw fields.bad("prompt", "known words, not " + Excerpt.quoted(word));
            }
            tokens.add((long) vocabulary.indexOf(word));
        }
        return List.of(new Prompt(tokens, fields.integer("max_new_tokens", 1, 64, 8)));
    }

    @Override
    public Text beginFn(Prompt prompt, Graph model) {
        return new Text(new ArrayList<>(prompt.tokens()), prompt.tokens().size() + prompt.count());
    }

    @Override
    public void stepFn(List<PartStream<Text, String>> streams, Graph model) {
        for (var stream : streams) {
            var tokens = stream.state().tokens();
            var row = tokens.stream().mapToLong(Long::longValue).toArray();
            var logits = model.forward(List.of(Tensor.of(row, 1, row.length)))
                    .getFirst()
                    .floats();
            var word = Labels.best(vocabulary, logits, 1).getFirst().label();
            tokens.add((long) vocabulary.indexOf(word));
            stream.emit(word + " ");
            if (tokens.size() == stream.state().last()) {
                stream.end();
            }
        }
    }

    /// Always: the toolkit has no answer in one piece.
    @Override
    public Optional<MediaType> streamedAs(InvocationRequest request) {
        return Optional.of(MediaType.TEXT);
    }

    @Override
    public byte[] partFn(String part, int record, InvocationRequest request) {
        return part.getBytes(StandardCharsets.UTF_8);
    }

    @Override
    public String join(Prompt prompt, List<String> parts) {
        return String.join("", parts);
    }

    @Override
    public InvocationResponse outputFn(List<String> texts, InvocationRequest request) {
        return InvocationResponse.of(texts.getFirst(), MediaType.TEXT);
    }
}
