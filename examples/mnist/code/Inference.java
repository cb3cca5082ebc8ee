import dev.berth.content.Base64Bytes;
import dev.berth.content.Json;
import dev.berth.content.JsonLines;
import dev.berth.content.RecordIo;
import dev.berth.handler.tensor.TensorHandler;
import dev.berth.hooks.InvocationRequest;
import dev.berth.hooks.InvocationResponse;
import dev.berth.hooks.MediaType;
import dev.berth.hooks.Tensor;
import dev.berth.image.Image;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

/// Reads a picture of a handwritten digit and says which one it is: `{"predictions": 7}`.
///
/// `TensorHandler` loads `model.pt`, batches and predicts. Only what goes in and what comes out is
/// written here.
public final class Inference extends TensorHandler {

    private static final MediaType RECORD_IO = MediaType.of("application", "x-recordio");

    /// The server makes one of these, and gives it the directory of the model artifact.
    public Inference(Path modelDirectory) {
        super(modelDirectory);
    }

    @Override
    public List<MediaType> requestTypes() {
        return Stream.concat(
                        Stream.of(MediaType.IMAGE, RECORD_IO, MediaType.JSON_LINES),
                        Stream.of("png", "jpeg", "gif", "bmp", "webp").map(kind -> MediaType.of("image", kind)))
                .toList();
    }

    @Override
    public List<MediaType> responseTypes() {
        return List.of(MediaType.JSON, MediaType.JSON_LINES);
    }

    /// A picture is one record. RecordIO holds several, and so do JSON Lines, `{"image":
    /// "iVBORw0…"}`. A record is one tensor, as the model has one input: 28 × 28 grey pixels from 0
    /// to 1.
    @Override
    public List<List<Tensor>> inputFn(InvocationRequest request) throws IOException {
        return pictures(request).stream()
                .map(picture -> List.of(pixels(picture)))
                .toList();
    }

    private static List<byte[]> pictures(InvocationRequest request) throws IOException {
        if (request.contentType().equals(RECORD_IO)) {
            return RecordIo.read(request.bytes());
        }
        if (request.contentType().equals(MediaType.JSON_LINES)) {
            return JsonLines.read(request).stream()
                    .map(line -> Base64Bytes.readText(line.json().path("image"), line.name() + ": image"))
                    .toList();
        }
        return List.of(request.bytes());
    }

    /// The digit with the largest logit; one line for each picture, so that a batch-transform job can
    /// join them.
    @Override
    public InvocationResponse outputFn(List<List<Tensor>> predictions, InvocationRequest request) {
        var lines = predictions.stream()
                .map(outputs -> Json.write(
                        Map.of("predictions", largest(outputs.getFirst().floats()))))
                .toList();
        return InvocationResponse.of(String.join("\n", lines), request.accept());
    }

    private static Tensor pixels(byte[] picture) {
        return Image.read(picture).resize(28, 28).grey(0, 1).reshape(1, 28, 28);
    }

    private static int largest(float[] logits) {
        int best = 0;
        for (int digit = 1; digit < logits.length; digit++) {
            if (logits[digit] > logits[best]) {
                best = digit;
            }
        }
        return best;
    }
}
