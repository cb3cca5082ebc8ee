package dev.berth.transform;

import com.fasterxml.jackson.core.JsonToken;
import dev.berth.content.CsvText;
import dev.berth.content.JsonLines;
import dev.berth.hooks.MediaType;
import dev.berth.json.JsonText;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.Optional;
import java.util.OptionalInt;

/// How many records an answer is for, where its content type tells: lines, rows, the elements of a
/// JSON list, or JSON values one behind the other.
final class AnswerCount {

    private AnswerCount() {}

    /// @param type without parameters
    /// @return nothing where an answer of that type says nothing of records
    static OptionalInt of(byte[] answer, Optional<MediaType> type) {
        // Byte for byte, whatever the encoding is.
        if (type.filter(JsonLines.TYPES::contains).isPresent()) {
            return OptionalInt.of(RecordFormat.lines(latin(answer)).size());
        }
        if (type.filter(MediaType.CSV::equals).isPresent()) {
            return OptionalInt.of(CsvText.rows(latin(answer)).size());
        }
        return type.filter(MediaType.JSON::equals).isPresent() ? elements(answer) : OptionalInt.empty();
    }

    private static String latin(byte[] text) {
        return new String(text, StandardCharsets.ISO_8859_1);
    }

    private static OptionalInt elements(byte[] json) {
        try (var parser = JsonText.parser(json)) {
            boolean isList = parser.nextToken() == JsonToken.START_ARRAY;
            int elements = 0;
            while (isList && parser.nextToken() != JsonToken.END_ARRAY) {
                parser.skipChildren();
                elements++;
            }
            parser.skipChildren();
            int values = 1;
            while (parser.nextToken() != null) {
                parser.skipChildren();
                values++;
            }
            // Several values are one for each record, whatever they are.
            return values > 1 || isList ? OptionalInt.of(values > 1 ? values : elements) : OptionalInt.empty();
        } catch (IOException _) {
            // It is the caller's to find out.
            return OptionalInt.empty();
        }
    }
}
