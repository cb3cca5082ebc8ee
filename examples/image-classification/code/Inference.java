import dev.berth.content.Base64Bytes;
import dev.berth.content.Instances;
import dev.berth.content.Json;
import dev.berth.content.image.Image;
import dev.berth.handler.tensor.TensorHandler;
import dev.berth.hooks.InvocationRequest;
import dev.berth.hooks.InvocationResponse;
import dev.berth.hooks.MediaType;
import dev.berth.hooks.Tensor;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/// Says what is in a picture, in the words of TensorFlow Serving: `{"instances": [{"b64": "…"}]}` or a raw picture in,
/// `{"predictions": [{"classes": […], "probabilities": […]}]}` out.
///
/// `TensorHandler` loads `model.pt`, batches and predicts.
public final class Inference extends TensorHandler {

  /// How many classes an answer names, the likeliest first.
  private static final int MOST = 5;

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
            Stream.of(MediaType.JSON, MediaType.IMAGE),
            Stream.of("jpeg", "png", "gif", "bmp", "webp").map(kind -> MediaType.of("image", kind)))
        .toList();
  }

  @Override
  public List<MediaType> responseTypes() {
    return List.of(MediaType.JSON);
  }

  /// A record is one tensor, as the model has one input: 3 × 224 × 224.
  @Override
  public List<List<Tensor>> inputFn(InvocationRequest request) throws IOException {
    if (!request.contentType().withoutParameters().equals(MediaType.JSON)) {
      return List.of(List.of(pixels(request.bytes())));
    }
    var instances = Instances.read(Json.read(request));
    return IntStream.range(0, instances.values().size())
        .mapToObj(i -> List.of(pixels(Base64Bytes.read(instances.values().get(i), instances.name(i)))))
        .toList();
  }

  @Override
  public InvocationResponse outputFn(List<List<Tensor>> predictions, InvocationRequest request) {
    var values = predictions.stream().map(outputs -> prediction(outputs.getFirst().floats())).toList();
    return InvocationResponse.of(Json.write(Map.of("predictions", values)), MediaType.JSON);
  }

  private static Tensor pixels(byte[] picture) {
    return Image.read(picture).resizeShorterSide(256).centerCrop(224, 224).rgb(MEAN, DEVIATION);
  }

  private Prediction prediction(float[] probabilities) {
    var likeliest = IntStream.range(0, probabilities.length).boxed()
        .sorted(Comparator.comparing(label -> -probabilities[label]))
        .limit(MOST)
        .toList();
    return new Prediction(
        likeliest.stream().map(label -> label < labels.size() ? labels.get(label) : label).toList(),
        likeliest.stream().map(label -> probabilities[label]).toList());
  }
}
