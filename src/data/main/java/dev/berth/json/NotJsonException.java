package dev.berth.json;

import com.fasterxml.jackson.core.JsonLocation;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.StreamReadConstraints;
import com.fasterxml.jackson.core.exc.StreamConstraintsException;
import java.io.IOException;
import java.util.Map;
import java.util.regex.Pattern;

/// A text is not one JSON value. The message says where, what stands there and what is expected, as
/// in `not JSON at line 2, column 7: found 'NaN', expected a value`.
public final class NotJsonException extends IOException {

    private static final long serialVersionUID = 1;

    /// What the parser puts in quotes is what it found.
    private static final Pattern FOUND = Pattern.compile("^(?:Un|Non|Dup).*?('.+?')(?: \\(code|:| )");

    /// What it expects, by what its message says.
    private static final Map<String, String> EXPECTED = Map.of(
            "start field name", "a name in double quotes",
            "separate field name", "a colon",
            "comma to separate", "a comma",
            "(for Object", "a comma or }",
            "(for Array", "a comma or ]",
            "numeric value", "a number as JSON writes them",
            "escape", "an escape such as \\n or \\u00e9");

    private final boolean isSecond;

    public NotJsonException(String message) {
        super(message);
        this.isSecond = false;
    }

    private NotJsonException(String message, boolean isSecond, JsonProcessingException cause) {
        super(message, cause);
        this.isSecond = isSecond;
    }

    static NotJsonException second(JsonLocation place, boolean isLine) {
        return new NotJsonException(
                "found a second JSON value%s, expected one".formatted(at(place, isLine)), true, null);
    }

    static NotJsonException behindTheValue(JsonProcessingException e, boolean isLine) {
        return new NotJsonException(
                "found more than a JSON value%s, expected its end".formatted(at(e.getLocation(), isLine)), false, e);
    }

    /// @param isLine whether the text is a line, so that the column says enough
    static NotJsonException of(JsonProcessingException e, JsonParser parser, boolean isLine) {
        return new NotJsonException(
                e instanceof StreamConstraintsException
                        ? "found " + limit(e.getOriginalMessage(), parser.streamReadConstraints())
                        : "not JSON%s: %s".formatted(at(e.getLocation(), isLine), flaw(e, parser, isLine)),
                false,
                e);
    }

    /// Whether the text has a value, and another one behind it.
    public boolean isSecond() {
        return isSecond;
    }

    private static String at(JsonLocation place, boolean isLine) {
        if (place == null) {
            return "";
        }
        return isLine
                ? " at column %d".formatted(place.getColumnNr())
                : " at line %d, column %d".formatted(place.getLineNr(), place.getColumnNr());
    }

    private static String flaw(JsonProcessingException e, JsonParser parser, boolean isLine) {
        var message = e.getOriginalMessage();
        var context = parser.getParsingContext();
        if (message.startsWith("Unexpected end-of-input")) {
            return context.inRoot()
                    ? "found the end of the text, expected that of a value"
                    : "found the end of the text, expected that of the %s that begins%s"
                            .formatted(
                                    context.inObject() ? "object" : "list",
                                    at(
                                            context.startLocation(
                                                    parser.currentLocation().contentReference()),
                                            isLine));
        }
        if (message.startsWith("Invalid UTF-8")) {
            return "found a byte that is not UTF-8";
        }
        if (message.startsWith("Illegal")) {
            return "found a line break or another control character, expected its escape";
        }
        if (message.contains("surrogate")) {
            return "found half of a character in a name";
        }
        var found = FOUND.matcher(message);
        if (message.startsWith("Duplicate") && found.find()) {
            return "found %s twice, expected it once".formatted(found.group(1));
        }
        found.reset();
        return "found %s, expected %s"
                .formatted(
                        found.find() ? found.group(1) : "another character",
                        EXPECTED.entrySet().stream()
                                .filter(known -> message.contains(known.getKey()))
                                .map(Map.Entry::getValue)
                                .findFirst()
                                .orElse("a value"));
    }

    private static String limit(String message, StreamReadConstraints limits) {
        if (message.contains("nesting depth")) {
            return "JSON that is nested too deep, expected at most %d levels".formatted(limits.getMaxNestingDepth());
        }
        return message.startsWith("Number")
                ? "a number that is too long, expected at most %d digits".formatted(limits.getMaxNumberLength())
                : "a name that is too long, expected at most %d characters".formatted(limits.getMaxNameLength());
    }
}
