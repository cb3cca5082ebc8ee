package dev.berth.json;

import com.fasterxml.jackson.core.JsonLocation;
import com.fasterxml.jackson.core.JsonProcessingException;
import java.io.IOException;
import java.util.Locale;
import java.util.regex.Pattern;

/// A text is not one JSON value. The message says where, and in the parser's words what stands there
/// and what is expected, as in `not JSON at column 7: found unexpected character ('}' (code 125)),
/// expected a valid value`.
public final class NotJsonException extends IOException {

    private static final long serialVersionUID = 1;

    /// What the parser's messages have in front of a line and a column, and what they say of its settings.
    private static final Pattern PARSERS_OWN =
            Pattern.compile("(?s)(?<=\\[)Source: [^;]*; (?=line: \\d)|, from `Stream[^`]*`"
                    + "|(: enable `Json| \\((consider|not recognized)| for `ObjectNode`: not).*");

    public NotJsonException(String message) {
        super(message);
    }

    private NotJsonException(String message, JsonProcessingException cause) {
        super(message, cause);
    }

    static NotJsonException second(JsonLocation place) {
        return new NotJsonException("found a second JSON value%s, expected one".formatted(at(place)));
    }

    static NotJsonException of(JsonProcessingException e) {
        return new NotJsonException(
                "not JSON%s: found %s".formatted(at(e.getLocation()), found(e.getOriginalMessage())), e);
    }

    /// What the parser says, with what it expected as other messages have it.
    private static String found(String message) {
        var found = message.substring(0, 1).toLowerCase(Locale.ROOT)
                + PARSERS_OWN
                        .matcher(message.substring(1))
                        .replaceAll("")
                        .replaceFirst(": (was expecting|expected) ", ", expected ")
                        .replace(" exceeds the maximum allowed (", ", expected at most (");
        return found.contains(", expected ") ? found : found + ", expected JSON";
    }

    /// Of a line the column says enough.
    private static String at(JsonLocation place) {
        if (place == null) {
            return "";
        }
        return place.getLineNr() == 1
                ? " at column %d".formatted(place.getColumnNr())
                : " at line %d, column %d".formatted(place.getLineNr(), place.getColumnNr());
    }
}
