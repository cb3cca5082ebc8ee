package dev.berth.transform;

import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonToken;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import com.fasterxml.jackson.databind.util.RawValue;
import dev.berth.content.Csv;
import dev.berth.content.JsonLines;
import dev.berth.hooks.BadInputException;
import dev.berth.hooks.MediaType;
import dev.berth.json.JsonText;
import dev.berth.json.NotJsonException;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.stream.Collectors;

/// How the records of a content type are read, joined and written. What nobody asked to change
/// stays as it was, to the last digit.
enum RecordFormat {

    /// CSV (RFC 4180), each row a list of its cells. A cell is the text between two commas, its quotes
    /// included: so a row that is put together of cells needs no more quotes, and loses none.
    CSV {
        @Override
        ArrayNode read(String text) {
            if (text.isBlank()) {
                throw new BadInputException("found a blank line, expected a row of CSV");
            }
            var row = NODES.arrayNode();
            for (var cell : Csv.cells(text)) {
                row.add(cell);
                try {
                    Csv.value(cell);
                } catch (BadInputException e) {
                    throw new BadInputException("column %d: %s".formatted(row.size(), e.getMessage()), e);
                }
            }
            return row;
        }

        // A row may have line breaks between quotes.
        @Override
        List<String> records(String text) {
            return Csv.split(text);
        }

        // The row's columns followed by those of the answer.
        @Override
        ArrayNode join(JsonNode input, JsonNode answer) {
            var row = NODES.arrayNode();
            input.forEach(row::add);
            answer.forEach(row::add);
            return row;
        }

        @Override
        ArrayNode error(String message) {
            return NODES.arrayNode().add(Csv.quotedError(message));
        }

        @Override
        boolean isError(JsonNode answer) {
            return Csv.isError(answer.path(0).asText());
        }

        // @param record a row, or one cell
        @Override
        String write(JsonNode record) {
            return record.isArray()
                    ? record.valueStream().map(JsonNode::textValue).collect(Collectors.joining(","))
                    : record.textValue();
        }
    },

    /// JSON whose numbers keep the text that they had: `1.0`, `1e5` and digits without end come out as
    /// they went in. Names keep their order; texts are written without escapes where JSON needs none.
    JSON {
        @Override
        JsonNode read(String text) {
            try {
                return JsonText.exactly(text, RecordFormat::exact);
            } catch (NotJsonException e) {
                throw new BadInputException(e.getMessage(), e);
            }
        }

        // An object gets the answer as one more member, in the place of one that has its name already;
        // any other value becomes a member beside it.
        @Override
        JsonNode join(JsonNode input, JsonNode answer) {
            var joined = input instanceof ObjectNode object
                    ? object
                    : NODES.objectNode().set("SageMakerInput", input);
            return ((ObjectNode) joined).set("SageMakerOutput", answer);
        }

        @Override
        JsonNode error(String message) {
            return NODES.objectNode().put("error", message);
        }

        @Override
        boolean isError(JsonNode answer) {
            return answer.size() == 1 && answer.path("error").isTextual();
        }

        @Override
        String write(JsonNode record) {
            return JsonText.write(record);
        }
    };

    private static final JsonNodeFactory NODES = JsonNodeFactory.instance;

    /// The value that begins at the parser's token.
    private static JsonNode exact(JsonParser parser) throws IOException {
        return switch (parser.currentToken()) {
            case START_OBJECT -> {
                var object = NODES.objectNode();
                while (parser.nextToken() != JsonToken.END_OBJECT) {
                    var name = parser.currentName();
                    parser.nextToken();
                    object.set(name, exact(parser));
                }
                yield object;
            }
            case START_ARRAY -> {
                var list = NODES.arrayNode();
                while (parser.nextToken() != JsonToken.END_ARRAY) {
                    list.add(exact(parser));
                }
                yield list;
            }
            case VALUE_NUMBER_INT, VALUE_NUMBER_FLOAT -> NODES.rawValueNode(new RawValue(parser.getText()));
            case VALUE_STRING -> NODES.textNode(parser.getText());
            case VALUE_TRUE, VALUE_FALSE -> NODES.booleanNode(parser.getBooleanValue());
            case VALUE_NULL -> NODES.nullNode();
            case END_OBJECT, END_ARRAY, FIELD_NAME, VALUE_EMBEDDED_OBJECT, NOT_AVAILABLE ->
                throw new IllegalStateException("no value begins with " + parser.currentToken());
        };
    }

    /// @param type CSV, JSON or JSON Lines
    static RecordFormat of(MediaType type) {
        return type.equals(MediaType.CSV) ? CSV : JSON;
    }

    /// @param text one record, without a newline at its end
    /// @throws BadInputException with what was found and expected
    abstract JsonNode read(String text);

    /// The records in the text of several, each with the newline behind it.
    List<String> records(String text) {
        return lines(text);
    }

    /// How many records an answer is for, where its content type tells: lines, rows, the elements of a
    /// JSON list, or JSON values one behind the other.
    ///
    /// @param type without parameters
    /// @return nothing where an answer of that type says nothing of records
    static OptionalInt count(byte[] answer, Optional<MediaType> type) {
        // Byte for byte, whatever the encoding is.
        if (type.filter(JsonLines.TYPES::contains).isPresent()) {
            return OptionalInt.of(lines(latin(answer)).size());
        }
        if (type.filter(MediaType.CSV::equals).isPresent()) {
            return OptionalInt.of(CSV.records(latin(answer)).size());
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

    /// Lines with their newlines. There is none behind the last newline.
    static List<String> lines(String text) {
        var lines = new ArrayList<String>();
        int start = 0;
        while (start < text.length()) {
            int newline = text.indexOf('\n', start);
            int end = newline < 0 ? text.length() : newline + 1;
            lines.add(text.substring(start, end));
            start = end;
        }
        return lines;
    }

    /// What `JoinSource=Input` makes of a record and its answer.
    abstract JsonNode join(JsonNode input, JsonNode answer);

    /// What stands in the place of a bad record's answer.
    abstract JsonNode error(String message);

    /// Whether an answer is such an error.
    abstract boolean isError(JsonNode answer);

    /// A record as one line, without a newline at its end.
    abstract String write(JsonNode record);
}
