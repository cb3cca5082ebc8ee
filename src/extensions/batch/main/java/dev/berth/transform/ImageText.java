package dev.berth.transform;

import com.fasterxml.jackson.databind.JsonNode;
import dev.berth.hooks.MediaType;
import java.nio.charset.StandardCharsets;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/// An image in base64 among the values of an answer. How it begins tells what it is, whatever the
/// value is called.
///
/// @param end of its file's name
record ImageText(MediaType type, String end, byte[] bytes) {

    /// What is known here.
    static final List<MediaType> TYPES = Stream.of("png", "jpeg", "gif", "webp")
            .map(format -> MediaType.of("image", format))
            .toList();

    /// How formats begin, each byte a character. RIFF holds sounds too.
    private static final Map<String, Pattern> FORMATS = Map.of(
            "png", Pattern.compile("\u0089PNG\r\n\u001a\n"),
            "jpeg", Pattern.compile("\u00ff\u00d8\u00ff"),
            "gif", Pattern.compile("GIF8"),
            "webp", Pattern.compile("RIFF....WEBP", Pattern.DOTALL));

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
            var beginning = new String(
                    Base64.getDecoder().decode(text.substring(0, Math.min(text.length(), LEAST / 4 * 4))),
                    StandardCharsets.ISO_8859_1);
            for (var format : FORMATS.keySet()) {
                if (FORMATS.get(format).matcher(beginning).lookingAt()) {
                    return Optional.of(new ImageText(
                            MediaType.of("image", format),
                            format.equals("jpeg") ? "jpg" : format,
                            Base64.getMimeDecoder().decode(text)));
                }
            }
        } catch (IllegalArgumentException _) {
            // It is another text.
        }
        return Optional.empty();
    }
}
