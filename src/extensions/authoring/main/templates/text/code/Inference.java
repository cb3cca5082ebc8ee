import com.fasterxml.jackson.databind.JsonNode;
import dev.berth.content.Csv;
import dev.berth.content.Excerpt;
import dev.berth.hooks.BadInputException;
import dev.berth.hooks.InferenceHandler;
import dev.berth.hooks.InvocationRequest;
import dev.berth.hooks.InvocationResponse;
import dev.berth.hooks.MediaType;
import dev.berth.hooks.ModelContext;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.regex.Pattern;

/// Says whether a text praises a film: each word of `words.csv` has a weight. For a transformer put
/// `dev.berth.tokenizer.Tokenizer` in the place of the vocabulary, and `Graph.load(…)` into
/// `modelFn`.
public final class Inference implements InferenceHandler<float[], int[], Double> {

    private static final Pattern WORD = Pattern.compile("[^\\p{L}]+");

    /// For `inputFn`, which runs on many threads at the same time: so it is never changed.
    private final Map<String, Integer> vocabulary;

    /// Loads what `inputFn` and `outputFn` need, once for all workers.
    public Inference(Path modelDirectory) throws IOException {
        var words = new HashMap<String, Integer>();
        for (var row : rows(modelDirectory)) {
            words.put(row[0], words.size());
        }
        vocabulary = Map.copyOf(words);
    }

    /// Loads the weights: once for each worker, before `/ping` says 200.
    @Override
    public float[] modelFn(ModelContext context) throws IOException {
        var weights = new float[vocabulary.size()];
        for (var row : rows(context.modelDirectory())) {
            weights[vocabulary.get(row[0])] = Float.parseFloat(row[1]);
        }
        return weights;
    }

    /// Bytes to records. Here a record is a text, as the numbers of the words that are known.
    @Override
    public List<int[]> inputFn(InvocationRequest request) throws IOException {
        JsonNode text = request.json().path("text");
        if (!text.isTextual()) {
            throw new BadInputException("text: found %s, expected a text".formatted(Excerpt.of(text)));
        }
        return List.of(WORD.splitAsStream(text.textValue().toLowerCase(Locale.ROOT))
                .map(vocabulary::get)
                .filter(Objects::nonNull)
                .mapToInt(Integer::intValue)
                .toArray());
    }

    /// Records of one or several requests to as many predictions in the same order.
    @Override
    public List<Double> predictFn(List<int[]> texts, float[] weights) {
        return texts.stream()
                .map(words -> {
                    double sum = 0;
                    for (int word : words) {
                        sum += weights[word];
                    }
                    return 1 / (1 + Math.exp(-sum));
                })
                .toList();
    }

    @Override
    public InvocationResponse outputFn(List<Double> predictions, InvocationRequest request) {
        double positive = predictions.getFirst();
        var label = positive >= 0.5 ? "positive" : "negative";
        double score = Math.round(1000 * Math.max(positive, 1 - positive)) / 1000.0;
        return InvocationResponse.of("{\"label\":\"%s\",\"score\":%s}".formatted(label, score), MediaType.JSON);
    }

    @Override
    public List<MediaType> requestTypes() {
        return List.of(MediaType.JSON);
    }

    @Override
    public List<MediaType> responseTypes() {
        return List.of(MediaType.JSON);
    }

    private static List<String[]> rows(Path modelDirectory) throws IOException {
        return Csv.rows(Files.readString(modelDirectory.resolve("words.csv")));
    }
}
