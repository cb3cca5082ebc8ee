package dev.berth.transform;

import com.fasterxml.jackson.databind.JsonNode;
import dev.berth.hooks.MediaType;
import java.util.Arrays;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;

/// An image in base64 among the values of an answer. How it begins tells what it is, whatever the
/// value is called.
///
/// @param end of its file's name
record ImageText(MediaType type, String end, byte[] bytes) {

  /// What is known here.
  static final List<MediaType> TYPES =
      Stream.of("png", "jpeg", "gif", "webp").map(format -> MediaType.of("image", format)).toList();

  /// How formats begin.
  private static final Map<String, byte[]> FORMATS =
      Map.of(
          "png", new byte[] {(byte) 0x89, 'P', 'N', 'G', '\r', '\n', 0x1a, '\n'},
          "jpeg", new byte[] {(byte) 0xff, (byte) 0xd8, (byte) 0xff},
          "gif", new byte[] {'G', 'I', 'F', '8'},
          "webp", new byte[] {'R', 'I', 'F', 'F'});

  /// RIFF holds sounds too.
  private static final byte[] WEBP = {'W', 'E', 'B', 'P'};

  /// Base64 of what no shorter image has.
  private static final int LEAST = 32;

  /// All images of an answer, in their order.
  static List<ImageText> in(JsonNode answer) {
    return answer.isContainerNode()
        ? answer.valueStream().flatMap(child -> in(child).stream()).toList()
        : of(answer).stream().toList();
  }

  private static Optional<ImageText> of(JsonNode value) {
    if (!value.isTextual() || value.textValue().length() < LEAST) {
      return Optional.empty();
    }
    // As a URL it has its type in front.
    var text = value.textValue().replaceFirst("^data:image/[a-z]+;base64,", "");
    try {
      var beginning =
          Base64.getDecoder().decode(text.substring(0, Math.min(text.length(), LEAST / 4 * 4)));
      for (var format : FORMATS.entrySet()) {
        var magic = format.getValue();
        if (beginning.length >= magic.length
            && Arrays.equals(beginning, 0, magic.length, magic, 0, magic.length)
            && (!format.getKey().equals("webp") || Arrays.equals(beginning, 8, 12, WEBP, 0, 4))) {
          var end = format.getKey().equals("jpeg") ? "jpg" : format.getKey();
          return Optional.of(
              new ImageText(
                  MediaType.of("image", format.getKey()),
                  end,
                  Base64.getMimeDecoder().decode(text)));
        }
      }
    } catch (IllegalArgumentException _) {
      // It is another text.
    }
    return Optional.empty();
  }
}
