package dev.berth.transform;

import com.fasterxml.jackson.databind.JsonNode;
import dev.berth.hooks.MediaType;
import java.util.Base64;
import java.util.List;
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

    /// How the formats begin in base64, where enough of it follows for an image. As a URL it has its
    /// type in front. RIFF holds sounds too.
    private static final Pattern BEGINNING = Pattern.compile("(?:data:image/[a-z]+;base64,)?(?=[A-Za-z0-9+/]{32})"
            + "(?:(?<png>iVBORw0KGgo)|(?<jpeg>/9j/)|(?<gif>R0lGOD)|(?<webp>UklGR.{6}XRUJQ))");

    /// All images of an answer, in their order.
    static List<ImageText> in(JsonNode answer) {
        return answer.isContainerNode()
                ? answer.valueStream().flatMap(child -> in(child).stream()).toList()
                : of(answer).stream().toList();
    }

    private static Optional<ImageText> of(JsonNode value) {
        var text = value.isTextual() ? value.textValue() : "";
        var beginning = BEGINNING.matcher(text);
        if (!beginning.lookingAt()) {
            return Optional.empty();
        }
        var type = TYPES.stream()
                .filter(each -> beginning.start(each.subtype()) >= 0)
                .findFirst()
                .orElseThrow();
        var base64 = text.substring(beginning.start(type.subtype()));
        try {
            var bytes = Base64.getMimeDecoder().decode(base64);
            return Optional.of(new ImageText(type, type.subtype().replace("jpeg", "jpg"), bytes));
        } catch (IllegalArgumentException _) {
            // It is another text.
            return Optional.empty();
        }
    }
}
