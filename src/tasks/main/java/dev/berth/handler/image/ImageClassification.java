package dev.berth.handler.image;

import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.berth.handler.task.Classification;
import dev.berth.handler.task.HubFiles;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.stream.IntStream;

/// The task of [ImageClassificationHandler].
public final class ImageClassification extends Classification {

    private static final int PICTURES = 40;
    private static final int WIDTH = 40;
    private static final int HEIGHT = 32;

    public ImageClassification() {
        super("image-classification", "ForImageClassification", ImageClassificationHandler::new);
    }

    @Override
    public boolean readsTokens() {
        return false;
    }

    @Override
    public void describe(HubFiles model, ObjectNode json) {
        model.outputs(json, "logits", "logits");
        model.pictures(json);
        labels(model, json, false);
    }

    @Override
    public List<ObjectNode> requests(List<Passage> passages, HubFiles model, ObjectNode json) {
        return IntStream.range(0, PICTURES)
                .mapToObj(seed -> request(picture(seed), Map.of("top_k", ALL_LABELS)))
                .toList();
    }

    /// Colours that run into each other, as BMP in base64.
    private static String picture(int seed) {
        var bmp = ByteBuffer.allocate(54 + 3 * WIDTH * HEIGHT).order(ByteOrder.LITTLE_ENDIAN);
        bmp.put((byte) 'B').put((byte) 'M').putInt(bmp.capacity()).putInt(0).putInt(54);
        bmp.putInt(40).putInt(WIDTH).putInt(HEIGHT).putShort((short) 1).putShort((short) 24);
        bmp.position(54);
        var corners = new Random(seed).ints(12, 0, 256).toArray();
        for (int y = 0; y < HEIGHT; y++) {
            for (int x = 0; x < WIDTH; x++) {
                for (int c = 0; c < 3; c++) {
                    int top = corners[c] * (WIDTH - x) + corners[c + 3] * x;
                    int bottom = corners[c + 6] * (WIDTH - x) + corners[c + 9] * x;
                    bmp.put((byte) ((top * (HEIGHT - y) + bottom * y) / (WIDTH * HEIGHT)));
                }
            }
        }
        return Base64.getEncoder().encodeToString(bmp.array());
    }
}
