import dev.berth.content.JsonTensors;
import dev.berth.hooks.BadInputException;
import dev.berth.hooks.ElementType;
import dev.berth.hooks.InferenceHandler;
import dev.berth.hooks.InvocationRequest;
import dev.berth.hooks.InvocationResponse;
import dev.berth.hooks.MediaType;
import dev.berth.hooks.ModelContext;
import dev.berth.hooks.Tensor;
import dev.berth.image.Image;
import java.io.IOException;
import java.util.List;

/// Answers with a picture: numbers from 0 to 1 in rows become a map of grey squares. A model that
/// makes pictures returns such a tensor from `Graph.forward(…)`, which `modelFn` loads with
/// `Graph.load(…)`.
public final class Inference implements InferenceHandler<Void, Tensor, Image> {

    private static final MediaType PNG = MediaType.of("image", "png");
    private static final MediaType JPEG = MediaType.of("image", "jpeg");
    private static final int SQUARE = 16;
    private static final int LONGEST_SIDE = 64;

    @Override
    public Void modelFn(ModelContext context) {
        return null;
    }

    /// Bytes to records. A BadInputException is the caller's 400, with its message.
    @Override
    public List<Tensor> inputFn(InvocationRequest request) throws IOException {
        var values = JsonTensors.read(request.json().path("values"), ElementType.FLOAT32, "values");
        var shape = values.shape();
        if (shape.length != 2 || values.size() == 0 || shape[0] > LONGEST_SIDE || shape[1] > LONGEST_SIDE) {
            throw new BadInputException("values: expected 1 to %d rows of 1 to %1$d numbers".formatted(LONGEST_SIDE));
        }
        return List.of(values);
    }

    /// The picture of each record: a tensor `[1, height, width]` is grey, one of `[3, height, width]`
    /// red, green and blue.
    @Override
    public List<Image> predictFn(List<Tensor> records, Void model) {
        return records.stream()
                .map(values -> {
                    int height = values.shape()[0];
                    int width = values.shape()[1];
                    var given = values.floats();
                    var pixels = new float[SQUARE * height * SQUARE * width];
                    for (int i = 0; i < pixels.length; i++) {
                        int row = i / (SQUARE * width) / SQUARE;
                        int column = i % (SQUARE * width) / SQUARE;
                        pixels[i] = given[row * width + column];
                    }
                    return Image.of(Tensor.of(pixels, 1, SQUARE * height, SQUARE * width));
                })
                .toList();
    }

    /// In the type that the caller likes best of those below.
    @Override
    public InvocationResponse outputFn(List<Image> pictures, InvocationRequest request) {
        var picture = pictures.getFirst();
        return request.accept().sameTypeAs(JPEG)
                ? InvocationResponse.of(picture.jpeg(90), JPEG)
                : InvocationResponse.of(picture.png(), PNG);
    }

    @Override
    public List<MediaType> requestTypes() {
        return List.of(MediaType.JSON);
    }

    @Override
    public List<MediaType> responseTypes() {
        return List.of(PNG, JPEG);
    }
}
