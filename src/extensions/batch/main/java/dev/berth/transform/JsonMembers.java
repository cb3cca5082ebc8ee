package dev.berth.transform;

import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonToken;
import dev.berth.hooks.BadInputException;
import dev.berth.json.JsonText;
import dev.berth.json.NotJsonException;
import java.io.IOException;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/// Members of an object as they stand in its text: no number is rounded, and no escape is lost.
///
/// @param values without line breaks, by name; none where the text is another value than an object
/// @param flaw why the text is not one JSON value. There are the values before the flaw then
record JsonMembers(Map<String, String> values, Optional<NotJsonException> flaw) {

    /// @param names of the members that are wanted, each of which may be there once
    static JsonMembers of(String text, Set<String> names) {
        var values = new HashMap<String, String>();
        try {
            JsonText.exactly(text, parser -> {
                read(parser, text, names, values);
                return values;
            });
            return new JsonMembers(values, Optional.empty());
        } catch (NotJsonException e) {
            return new JsonMembers(values, Optional.of(e));
        }
    }

    private static void read(JsonParser parser, String text, Set<String> names, Map<String, String> values)
            throws IOException {
        if (parser.currentToken() != JsonToken.START_OBJECT) {
            parser.skipChildren();
            return;
        }
        while (parser.nextToken() == JsonToken.FIELD_NAME) {
            var name = parser.currentName();
            parser.nextToken();
            int start = (int) parser.currentTokenLocation().getCharOffset();
            parser.skipChildren();
            if (!names.contains(name)) {
                continue;
            }
            parser.finishToken();
            int end = (int) parser.currentLocation().getCharOffset();
            if (values.putIfAbsent(name, onOneLine(text.substring(start, end))) != null) {
                throw new NotJsonException("found %s twice, expected it once".formatted(name));
            }
        }
    }

    /// @throws BadInputException where the text is not one JSON value
    void requireJson(String name) {
        flaw.ifPresent(why -> {
            throw new BadInputException("%s: %s".formatted(name, why.getMessage()), why);
        });
    }

    /// JSON without its line breaks: one within a text is an escape.
    static String onOneLine(String json) {
        return json.replace("\n", "").replace("\r", "");
    }
}
