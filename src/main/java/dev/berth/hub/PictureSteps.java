package dev.berth.hub;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.berth.json.JsonText;
import java.util.List;
import java.util.Map;

/// What an image processor does to a picture, from `preprocessor_config.json`, in the words of
/// `model.json`.
record PictureSteps(JsonNode processor) {

  static final String FILE = "preprocessor_config.json";

  /// By Pillow's numbers for its filters.
  private static final List<String> FILTERS =
      List.of("nearest", "lanczos", "bilinear", "bicubic", "box", "hamming");

  private static final double SHARE_OF_A_CROP = 224.0 / 256;

  /// Larger pictures are not cut, and not kept in shape either.
  private static final int LARGEST_CUT = 384;

  ObjectNode described() {
    var described = JsonNodeFactory.instance.objectNode();
    if (does("resize")) {
      resize(described);
    }
    if (processor.path("do_center_crop").asBoolean(processor.has("crop_size"))) {
      described.set("crop", square(processor.path("crop_size")));
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

  private void resize(ObjectNode described) {
    int filter = processor.path("resample").asInt(2);
    described.put("filter", FILTERS.get(Math.clamp(filter, 0, FILTERS.size() - 1)));
    var size = processor.path("size");
    var type =
        processor
            .path("image_processor_type")
            .asText(processor.path("feature_extractor_type").asText());
    // A number means a square, or a side where something is cut off afterwards.
    boolean keepsShape =
        size.isNumber()
            ? processor.has("crop_pct") || (processor.has("crop_size") && !type.startsWith("DeiT"))
            : size.hasNonNull("shortest_edge");
    if (!keepsShape) {
      described.set("resize", square(size));
      return;
    }
    int shorter = size.path("shortest_edge").asInt(size.asInt());
    if (!type.startsWith("ConvNext") && !processor.has("crop_pct")) {
      described.set("resize", side(shorter));
    } else if (shorter >= LARGEST_CUT) {
      described.set("resize", square(size));
    } else {
      double share = processor.path("crop_pct").asDouble(SHARE_OF_A_CROP);
      described.set("resize", side((int) (shorter / share)));
      described.set("crop", square(size));
    }
  }

  private static JsonNode side(int shorter) {
    return JsonText.tree(Map.of("shorterSide", shorter));
  }

  /// A height and a width, or the number that both are.
  private static JsonNode square(JsonNode size) {
    int both = size.path("shortest_edge").asInt(size.asInt());
    return JsonNodeFactory.instance
        .objectNode()
        .put("height", size.path("height").asInt(both))
        .put("width", size.path("width").asInt(both));
  }
}
