import com.fasterxml.jackson.databind.JsonNode;
import dev.berth.content.Excerpt;
import dev.berth.content.Fields;
import dev.berth.content.Json;
import dev.berth.content.JsonLines;
import dev.berth.content.JsonTensors;
import dev.berth.content.Npy;
import dev.berth.engine.Graph;
import dev.berth.handler.text.Vectors;
import dev.berth.hooks.Accelerator;
import dev.berth.hooks.BadInputException;
import dev.berth.hooks.InferenceHandler;
import dev.berth.hooks.InvocationRequest;
import dev.berth.hooks.InvocationResponse;
import dev.berth.hooks.MediaType;
import dev.berth.hooks.ModelContext;
import dev.berth.hooks.Tensor;
import dev.berth.openai.Embeddings;
import dev.berth.openai.Input;
import dev.berth.tokenizer.Encoding;
import dev.berth.tokenizer.Tokenizer;
import dev.berth.tokenizer.Truncation;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;

/// Turns sentences into vectors with a BERT encoder: the mean of the tokens' vectors, scaled to
/// length 1, so that the product of two is their cosine.
///
/// All four hooks. The model is a TorchScript, a record the tokens of one sentence, a prediction
/// its vector.
public final class Inference implements InferenceHandler<Graph, Encoding, Tensor>, AutoCloseable {

    private static final String ASKED = "asked";
    private static final String TOKENS = "tokens";

    /// Fields of text-embeddings-inference with the values that change nothing; an empty list: any.
    private static final JsonNode IDLE =
            Json.parse("{\"normalize\": [true], \"truncate\": [true], \"parameters\": [{}], \"options\": []}", "body");

    private final Tokenizer tokenizer;
    private final Truncation truncation;

    public Inference(Path modelDirectory) throws IOException {
        var encoder = Json.parse(Files.readString(modelDirectory.resolve("encoder.json")), "encoder.json");
        this.tokenizer = Tokenizer.load(modelDirectory);
        this.truncation =
                tokenizer.truncation().to(encoder.path("maxSequenceLength").intValue());
    }

    @Override
    public Graph modelFn(ModelContext context) {
        return Graph.load(context.modelDirectory().resolve("model.pt"), context.accelerator());
    }

    @Override
    public List<MediaType> requestTypes() {
        return List.of(MediaType.JSON, MediaType.JSON_LINES);
    }

    @Override
    public List<MediaType> responseTypes() {
        return List.of(MediaType.JSON, MediaType.JSON_LINES, MediaType.NPY);
    }

    @Override
    public List<String> openAiPaths() {
        return List.of(Embeddings.PATH);
    }

    /// JSON: `"one"`, `["one", "two"]`, or either as `{"inputs": …}` or as OpenAI's `{"input": …}`;
    /// JSON Lines: one on each line.
    @Override
    public List<Encoding> inputFn(InvocationRequest request) throws IOException {
        if (request.contentType().withoutParameters().equals(MediaType.JSON_LINES)) {
            return JsonLines.read(request).stream()
                    .map(line -> encoding(inputs(line.json(), line.name() + ": body"), line.name()))
                    .toList();
        }
        var body = request.json();
        var asked = Embeddings.of(request, body, List.of());
        if (asked.isEmpty()) {
            return records(inputs(body, "body"), "inputs");
        }
        asked.get().inputs().forEach(Input::text);
        var records = asked.get().inputs().stream()
                .map(input -> encoding(input.json(), input.name()))
                .toList();
        request.attributes().put(ASKED, asked.get());
        request.attributes()
                .put(TOKENS, records.stream().mapToInt(Encoding::size).sum());
        return records;
    }

    private List<Encoding> records(JsonNode inputs, String name) {
        if (!inputs.isArray()) {
            return List.of(encoding(inputs, name));
        }
        return IntStream.range(0, inputs.size())
                .mapToObj(i -> encoding(inputs.path(i), "%s[%d]".formatted(name, i)))
                .toList();
    }

    /// Records of like length share a batch, so that little of it is padding.
    @Override
    public int length(Encoding sentence) {
        return sentence.size();
    }

    @Override
    public int maxBatchSize(Accelerator accelerator) {
        return 32;
    }

    @Override
    public List<Tensor> predictFn(List<Encoding> records, Graph model) {
        var batch = tokenizer.pad(records);
        var tokens = model.forward(List.of(batch.ids(), batch.attentionMask()))
                .getFirst()
                .unstack();
        var vectors = new ArrayList<Tensor>();
        for (int row = 0; row < records.size(); row++) {
            vectors.add(normalisedMean(tokens.get(row), records.get(row).size()));
        }
        return vectors;
    }

    @Override
    public InvocationResponse outputFn(List<Tensor> vectors, InvocationRequest request) {
        if (request.attributes().get(ASKED) instanceof Embeddings asked) {
            int tokens = (int) request.attributes().get(TOKENS);
            return asked.answer(vectors.stream().map(Tensor::floats).toList(), tokens);
        }
        if (request.accept().equals(MediaType.NPY)) {
            var matrix = vectors.isEmpty() ? Tensor.of(new float[0], 0, 0) : Tensor.stack(vectors);
            return InvocationResponse.of(Npy.write(matrix), MediaType.NPY);
        }
        var lists = vectors.stream().map(JsonTensors::write).toList();
        var body = request.accept().equals(MediaType.JSON_LINES) ? JsonLines.write(lists) : Json.write(lists);
        return InvocationResponse.of(body, request.accept());
    }

    @Override
    public void close() {
        tokenizer.close();
    }

    private static JsonNode inputs(JsonNode body, String name) {
        return body.isObject() ? Fields.of(body, name, List.of("inputs"), IDLE).json("inputs") : body;
    }

    /// The tokens of a sentence with the special ones, cut where the model takes no more.
    private Encoding encoding(JsonNode sentence, String name) {
        if (!sentence.isTextual() || sentence.textValue().isBlank()) {
            throw new BadInputException("%s: found %s, expected a sentence".formatted(name, Excerpt.of(sentence)));
        }
        return tokenizer.encode(sentence.textValue(), truncation);
    }

    /// @param tokens a vector for each token, those of the padding at the end
    private static Tensor normalisedMean(Tensor tokens, int count) {
        int dimension = tokens.shape()[1];
        var values = tokens.floats();
        var mean = new float[dimension];
        for (int token = 0; token < count; token++) {
            for (int i = 0; i < dimension; i++) {
                mean[i] += values[token * dimension + i];
            }
        }
        // The mean's own length does not matter, as it is scaled to 1.
        return Tensor.of(Vectors.normalised(mean), dimension);
    }
}
