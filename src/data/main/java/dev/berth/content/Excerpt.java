package dev.berth.content;

import com.fasterxml.jackson.databind.JsonNode;
import dev.berth.hooks.BadInputException;
import java.util.List;
import java.util.stream.Collectors;

/// Says what was found where something else was expected, short enough for an error message.
public final class Excerpt {

    private static final int MAX_LENGTH = 60;

    /// Names in a list.
    private static final int MOST_NAMES = 20;

    private Excerpt() {}

    /// The kind of a value, and what it is where that is short.
    public static String of(JsonNode value) {
        return switch (value.getNodeType()) {
            case MISSING -> "nothing";
            case NULL -> "null";
            case OBJECT -> "an object";
            case ARRAY -> "a list";
            case STRING -> "the text " + quoted(value.textValue());
            case NUMBER, BOOLEAN, BINARY, POJO -> cut(value.asText());
        };
    }

    /// What to throw where a value is not as expected.
    ///
    /// @param name what messages call the value
    public static BadInputException bad(String name, JsonNode value, String expected) {
        return new BadInputException("%s: found %s, expected %s".formatted(name, of(value), expected));
    }

    public static String quoted(String text) {
        return '"' + cut(text) + '"';
    }

    /// Names in brackets, the first ones where they are many.
    public static String list(List<String> names) {
        return names.stream()
                .limit(MOST_NAMES)
                .map(Excerpt::cut)
                .collect(Collectors.joining(
                        ", ", "[", names.size() > MOST_NAMES ? ", … %d in all]".formatted(names.size()) : "]"));
    }

    /// Cut between code points, so that no half of a surrogate pair is left.
    private static String cut(String text) {
        if (text.length() <= MAX_LENGTH) {
            return text;
        }
        int end = Character.isHighSurrogate(text.charAt(MAX_LENGTH - 1)) ? MAX_LENGTH - 1 : MAX_LENGTH;
        return text.substring(0, end) + "…";
    }
}
