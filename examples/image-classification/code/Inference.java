import com.fasterxml.jackson.databind.JsonNode;
import dev.berth.content.Base64Bytes;
import dev.berth.content.Fields;
import dev.berth.content.Instances;
import dev.berth.content.Json;
import dev.berth.content.JsonLines;
import dev.berth.handler.tensor.TensorHandler;
import dev.berth.hooks.InvocationRequest;
import dev.berth.hooks.InvocationResponse;
import dev.berth.hooks.MediaType;
import dev.berth.hooks.Tensor;
import dev.berth.image.Image;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/// Says what is in a picture, in the words of TensorFlow Serving: `{"instances": [{"b64": "…"}]}`
/// or a raw picture in, `{"predictions": [{"classes": […], "probabilities": […]}]}` out. Or JSON
/// Lines: `{"image": "…"}` in, a prediction a line out.
///
/// `TensorHandler` loads `model.pt`, batches and predicts.
public final class Inference extends TensorHandler {

    /// How many classes an answer names, the likeliest first, unless `top_k` says it.
    private static final int MOST = 5;

    /// Where `inputFn` leaves for `outputFn` how many classes each record wants.
    private static final String TOP_K = "top_k";

    /// What ImageNet's models were trained with: the mean and the deviation of red, green and blue.
    private static final float[] MEAN = {0.485f, 0.456f, 0.406f};

    private static final float[] DEVIATION = {0.229f, 0.224f, 0.225f};

    /// Becomes a JSON object: the likeliest classes, and how likely each is.
    record Prediction(List<?> classes, List<Float> probabilities) {}

    private final List<String> labels;

    public Inference(Path modelDirectory) throws IOException {
        super(modelDirectory);
        var file = modelDirectory.resolve("labels.txt");
        this.labels = Files.exists(file) ? Files.readAllLines(file) : List.of();
    }

    @Override
    public List<MediaType> requestTypes() {
        return Stream.concat(
                        Stream.of(MediaType.JSON, MediaType.JSON_LINES, MediaType.IMAGE),
                        Stream.of("jpeg", "png", "gif", "bmp", "webp").map(kind -> MediaType.of("image", kind)))
                .toList();
    }

    @Override
    public List<MediaType> responseTypes() {
        return List.of(MediaType.JSON, MediaType.JSON_LINES);
    }

    /// A record is one tensor, as the model has one input: 3 × 224 × 224.
    @Override
    public List<List<Tensor>> inputFn(InvocationRequest request) throws IOException {
        var pictures = new ArrayList<byte[]>();
        var most = new ArrayList<Integer>();
        if (request.contentType().sameTypeAs(MediaType.JSON_LINES)) {
            for (var line : JsonLines.read(request)) {
                var json = line.json();
                pictures.add(Base64Bytes.readText(json.path("image"), line.name() + ": image"));
                most.add(most(json, line.name() + ": body", List.of("image", TOP_K)));
            }
        } else if (request.contentType().sameTypeAs(MediaType.JSON)) {
            var body = request.json();
            var instances = Instances.read(body);
            int all = body.isObject() ? most(body, "body", List.of("instances", "b64", TOP_K)) : MOST;
            for (int i = 0; i < instances.values().size(); i++) {
                pictures.add(Base64Bytes.read(instances.values().get(i), instances.name(i)));
                most.add(all);
            }
        } else {
            pictures.add(request.bytes());
            most.add(MOST);
        }
        request.attributes().put(TOP_K, most);
        return pictures.stream().map(picture -> List.of(pixels(picture))).toList();
    }

    /// One that is larger than the number of classes names them all.
    private static int most(JsonNode json, String name, List<String> known) {
        return Fields.of(json, name, known).integer(TOP_K, 1, Integer.MAX_VALUE, MOST);
    }

    @Override
    public InvocationResponse outputFn(List<List<Tensor>> predictions, InvocationRequest request) {
        var most = (List<?>) request.attributes().get(TOP_K);
        var values = IntStream.range(0, predictions.size())
                .mapToObj(i -> prediction(predictions.get(i).getFirst().floats(), (int) most.get(i)))
                .toList();
        return InvocationResponse.of(
                request.accept().sameTypeAs(MediaType.JSON_LINES)
                        ? JsonLines.write(values)
                        : Json.write(Map.of("predictions", values)),
                request.accept());
    }

    private static Tensor pixels(byte[] picture) {
        return Image.read(picture).resizeShorterSide(256).centerCrop(224, 224).rgb(MEAN, DEVIATION);
    }

    private Prediction prediction(float[] probabilities, int most) {
        var likeliest = IntStream.range(0, probabilities.length)
                .boxed()
                .sorted(Comparator.comparing(label -> -probabilities[label]))
                .limit(most)
                .toList();
        return new Prediction(
                likeliest.stream()
                        .map(label -> label < labels.size() ? labels.get(label) : label)
                        .toList(),
                likeliest.stream().map(label -> probabilities[label]).toList());
    }
}
