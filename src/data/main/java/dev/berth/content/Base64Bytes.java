package dev.berth.content;

import com.fasterxml.jackson.databind.JsonNode;
import dev.berth.hooks.BadInputException;
import dev.berth.memory.RequestMemory;
import java.util.Base64;

/// Bytes in JSON as TensorFlow Serving writes them: `{"b64": "iVBORw0…"}`, or in a field of any
/// name, `{"image_bytes": {"b64": "iVBORw0…"}}`.
public final class Base64Bytes {

    private static final String FIELD = "b64";
    private static final String DATA = ";base64,";

    private Base64Bytes() {}

    /// @param name what messages call the value
    /// @throws BadInputException when it has another form or is not base64
    public static byte[] read(JsonNode value, String name) {
        return read(value, name, "");
    }

    /// @param expected what else could stand there, for messages
    static byte[] read(JsonNode value, String name, String expected) {
        var object = value.isObject() && value.size() == 1 && !value.has(FIELD)
                ? value.elements().next()
                : value;
        var text = object.path(FIELD);
        if (!object.isObject() || object.size() != 1 || !text.isTextual()) {
            throw Excerpt.bad(name, value, expected + "{\"b64\": \"…\"}");
        }
        return decode(text.textValue(), name + ".b64");
    }

    /// Bytes as Hugging Face's API writes them: a text alone, `"iVBORw0…"`, which may be a data URL
    /// or have line breaks; or as [#read] takes them.
    ///
    /// @param name what messages call the value
    /// @throws BadInputException when it has another form or is not base64
    public static byte[] readText(JsonNode value, String name) {
        if (value.path(FIELD).isTextual()) {
            return read(value, name);
        }
        if (!value.isTextual()) {
            throw Excerpt.bad(name, value, "base64, as a text or as {\"b64\": \"…\"}");
        }
        var text = value.textValue();
        if (text.startsWith("http://") || text.startsWith("https://")) {
            throw new BadInputException(
                    "%s: found the address %s, expected the bytes themselves in base64: nothing is fetched"
                            .formatted(name, Excerpt.quoted(text)));
        }
        boolean isUrl = text.startsWith("data:");
        if (isUrl && !text.contains(DATA)) {
            throw new BadInputException(
                    "%s: found %s, expected a data URL with ;base64,".formatted(name, Excerpt.quoted(text)));
        }
        var base64 = isUrl ? text.substring(text.indexOf(DATA) + DATA.length()) : text;
        return decode(base64.indexOf('\n') < 0 ? base64 : base64.replaceAll("\\s", ""), name);
    }

    private static byte[] decode(String text, String name) {
        RequestMemory.charge(text.length());
        try {
            return Base64.getDecoder().decode(text);
        } catch (IllegalArgumentException e) {
            throw new BadInputException("%s: not base64: %s".formatted(name, e.getMessage()), e);
        }
    }
}
