import com.fasterxml.jackson.databind.JsonNode;
import dev.berth.content.Csv;
import dev.berth.content.Excerpt;
import dev.berth.content.Json;
import dev.berth.hooks.Accelerator;
import dev.berth.hooks.BadInputException;
import dev.berth.hooks.InvocationRequest;
import dev.berth.hooks.InvocationResponse;
import dev.berth.hooks.MediaType;
import dev.berth.hooks.ModelContext;
import dev.berth.hooks.PartStream;
import dev.berth.hooks.StreamingHandler;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/// Goes on with a text, word by word: `next.csv` has the word that comes after each. A caller who
/// accepts `text/event-stream` gets each word as it comes, any other the whole text.
public final class Inference implements StreamingHandler<Map<String, String>, String, String, Inference.Sentence> {

    private static final int MOST_WORDS = 20;

    /// How far the answer to one record has come.
    static final class Sentence {
        private String last;
        private int words;

        private Sentence(String prompt) {
            last = prompt.substring(prompt.lastIndexOf(' ') + 1);
        }
    }

    @Override
    public Map<String, String> modelFn(ModelContext context) throws IOException {
        var next = new HashMap<String, String>();
        for (var row : Csv.rows(Files.readString(context.modelDirectory().resolve("next.csv")))) {
            next.put(row[0], row[1]);
        }
        return next;
    }

    @Override
    public List<String> inputFn(InvocationRequest request) throws IOException {
        JsonNode prompt = request.json().path("prompt");
        if (!prompt.isTextual()) {
            throw new BadInputException("prompt: found %s, expected a text".formatted(Excerpt.of(prompt)));
        }
        return List.of(prompt.textValue().strip());
    }

    /// Begins a record, on the worker's thread. A model keeps its key/value cache here.
    @Override
    public Sentence beginFn(String prompt, Map<String, String> model) {
        return new Sentence(prompt);
    }

    /// One step of all records that are being answered, of any requests. They come and go between
    /// steps.
    @Override
    public void stepFn(List<PartStream<Sentence, String>> streams, Map<String, String> model) {
        for (var stream : streams) {
            var sentence = stream.state();
            var word = model.get(sentence.last);
            if (word == null || sentence.words == MOST_WORDS) {
                stream.end();
            } else {
                sentence.last = word;
                sentence.words++;
                stream.emit(" " + word);
            }
        }
    }

    /// The data of one event, or one line.
    @Override
    public byte[] partFn(String part, int record, InvocationRequest request) {
        return Json.write(Map.of("text", part)).getBytes(StandardCharsets.UTF_8);
    }

    /// For callers who want one body.
    @Override
    public String join(String prompt, List<String> parts) {
        return prompt + String.join("", parts);
    }

    @Override
    public InvocationResponse outputFn(List<String> predictions, InvocationRequest request) {
        return InvocationResponse.of(Json.write(Map.of("text", predictions.getFirst())), MediaType.JSON);
    }

    /// The most records in one step.
    @Override
    public int maxBatchSize(Accelerator accelerator) {
        return 32;
    }

    @Override
    public List<MediaType> requestTypes() {
        return List.of(MediaType.JSON);
    }

    @Override
    public List<MediaType> responseTypes() {
        return List.of(MediaType.JSON, MediaType.EVENT_STREAM, MediaType.JSON_LINES);
    }
}
