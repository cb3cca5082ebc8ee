package dev.berth.hub;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.berth.artifact.ModelArtifactException;
import dev.berth.json.JsonText;
import java.util.List;
import java.util.Map;

/// What an image processor does to a picture, from `preprocessor_config.json`, in the words of
/// `model.json`.
final class PictureSteps {

    private static final String FILE = "preprocessor_config.json";

    /// How the names of the processors begin that take a number for the shorter side. For all others
    /// it is both sides of a square.
    private static final List<String> OF_SHORTER_SIDES = List.of(
            "Bit",
            "CLIP",
            "ChineseCLIP",
            "ConvNext",
            "Levit",
            "MobileNet",
            "MobileViT",
            "PoolFormer",
            "Siglip",
            "TextNet");

    /// By Pillow's numbers for its filters.
    private static final List<String> FILTERS = List.of("nearest", "lanczos", "bilinear", "bicubic", "box", "hamming");

    private static final double SHARE_OF_A_CROP = 224.0 / 256;

    /// Larger pictures are not cut, and not kept in shape either.
    private static final int LARGEST_CUT = 384;

    private final HubModel model;
    private final JsonNode processor;
    private final String type;

    /// @throws ModelArtifactException when there is no file of a processor
    PictureSteps(HubModel model) {
        if (!model.has(FILE)) {
            throw model.refused(FILE + ": not found, expected what becomes of a picture");
        }
        this.model = model;
        this.processor = model.json(FILE);
        this.type = processor
                .path("image_processor_type")
                .asText(processor.path("feature_extractor_type").asText());
    }

    /// @throws ModelArtifactException when pictures do not come out in one size
    ObjectNode described() {
        var described = JsonNodeFactory.instance.objectNode();
        if (does("resize")) {
            resize(described);
        }
        if (crops()) {
            described.set("crop", square("crop_size"));
        }
        if (!described.has("crop") && !described.path("resize").has("height")) {
            throw model.refused("%s: size: found %s and no crop, expected pictures of one size"
                    .formatted(FILE, does("resize") ? processor.path("size") : "no resize"));
        }
        boolean isNormal = does("normalize") && processor.has("image_mean");
        boolean isScaled = does("rescale");
        described.put("scale", isScaled ? processor.path("rescale_factor").asDouble(1 / 255.0) : 1);
        // Values are from -1 to 1 then.
        double offset = isScaled && processor.path("rescale_offset").asBoolean() ? 1 : 0;
        boolean isTwice = processor.path("include_top").asBoolean();
        var mean = described.putArray("mean");
        var deviation = described.putArray("deviation");
        for (int i = 0; i < 3; i++) {
            double divisor = isNormal ? number("image_std", i) : 1;
            mean.add((isNormal ? number("image_mean", i) : 0) + offset);
            deviation.add(isTwice ? divisor * number("image_std", i) : divisor);
        }
        boolean isFlipped = processor.path("do_flip_channel_order").asBoolean();
        return described.put("channels", isFlipped ? "bgr" : "rgb");
    }

    private boolean does(String step) {
        return processor.path("do_" + step).asBoolean(true);
    }

    private double number(String name, int i) {
        var value = processor.path(name);
        return (value.isArray() ? value.path(i) : value).asDouble(1);
    }

    private boolean crops() {
        return processor.path("do_center_crop").asBoolean(processor.has("crop_size"));
    }

    private void resize(ObjectNode described) {
        int filter = processor.path("resample").asInt(2);
        described.put("filter", FILTERS.get(Math.clamp(filter, 0, FILTERS.size() - 1)));
        var size = processor.path("size");
        if (!keepsShape(size)) {
            described.set("resize", square("size"));
            return;
        }
        int shorter = size.path("shortest_edge").asInt(size.asInt());
        if (type.startsWith("Levit")) {
            described.set("resize", side((int) (256 / 224.0 * shorter)));
        } else if (!type.startsWith("ConvNext") && !processor.has("crop_pct")) {
            described.set("resize", side(shorter));
        } else if (shorter >= LARGEST_CUT) {
            described.set("resize", square("size"));
        } else {
            double share = processor.path("crop_pct").asDouble(SHARE_OF_A_CROP);
            described.set("resize", side((int) (shorter / share)));
            described.set("crop", square("size"));
        }
    }

    private boolean keepsShape(JsonNode size) {
        if (!size.isNumber()) {
            return size.hasNonNull("shortest_edge");
        }
        return type.isEmpty()
                ? crops() || processor.has("crop_pct")
                : OF_SHORTER_SIDES.stream().anyMatch(type::startsWith);
    }

    private static JsonNode side(int shorter) {
        return JsonText.tree(Map.of("shorterSide", shorter));
    }

    /// A height and a width, or the number that both are.
    private JsonNode square(String name) {
        var size = processor.path(name);
        int both = size.path("shortest_edge").asInt(size.asInt());
        int height = size.path("height").asInt(both);
        int width = size.path("width").asInt(both);
        if (height < 1 || width < 1) {
            throw model.refused("%s: %s: found %s, expected a height and a width".formatted(FILE, name, size));
        }
        return JsonNodeFactory.instance.objectNode().put("height", height).put("width", width);
    }
}
