import dev.berth.content.Json;
import dev.berth.handler.task.Labels;
import dev.berth.handler.tensor.TensorHandler;
import dev.berth.hooks.InvocationRequest;
import dev.berth.hooks.InvocationResponse;
import dev.berth.hooks.MediaType;
import dev.berth.hooks.Tensor;
import dev.berth.image.Box;
import dev.berth.image.Image;
import dev.berth.image.Letterbox;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;

/// A picture in, boxes in its own pixels out.
public final class Inference extends TensorHandler {

    private static final int SIZE = 128;
    private static final List<String> LABELS = List.of("person", "bicycle", "car");
    private static final float CONFIDENCE = 0.9f;
    private static final double OVERLAP = 0.5;

    record Detection(String label, float score, List<Float> box) {}

    public Inference(Path modelDirectory) {
        super(modelDirectory);
    }

    @Override
    public List<MediaType> requestTypes() {
        return List.of(MediaType.IMAGE, MediaType.of("image", "jpeg"), MediaType.of("image", "png"));
    }

    @Override
    public List<List<Tensor>> inputFn(InvocationRequest request) throws IOException {
        var letterbox = Image.read(request.bytes()).letterbox(SIZE, SIZE);
        request.attributes().put("letterbox", letterbox);
        return List.of(List.of(letterbox.image().rgb(new float[3], new float[] {1, 1, 1})));
    }

    @Override
    public InvocationResponse outputFn(List<List<Tensor>> predictions, InvocationRequest request) {
        var letterbox = (Letterbox) request.attributes().get("letterbox");
        var boxes = new ArrayList<Box>();
        for (var cell : predictions.getFirst().getFirst().unstack()) {
            var row = cell.floats();
            var best = Labels.best(LABELS, Arrays.copyOfRange(row, 4, row.length), 1)
                    .getFirst();
            if (best.score() > CONFIDENCE) {
                boxes.add(Box.centred(row[0], row[1], row[2], row[3], best.label(), best.score()));
            }
        }
        var detections = Box.suppressed(boxes, OVERLAP).stream()
                .map(letterbox::original)
                .map(box -> new Detection(box.label(), box.score(), box.corners()))
                .toList();
        return InvocationResponse.of(Json.write(Map.of("detections", detections)), request.accept());
    }
}
