package dev.berth.transform;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import dev.berth.content.Csv;
import dev.berth.content.CsvText;
import dev.berth.hooks.BadInputException;
import java.util.List;
import java.util.stream.Collectors;

/// CSV (RFC 4180), each row a list of its cells. A cell is the text between two commas, its quotes
/// included: so a row that is put together of cells needs no more quotes, and loses none.
final class CsvFormat implements RecordFormat {

    @Override
    public ArrayNode read(String text) {
        if (text.isBlank()) {
            throw new BadInputException("found a blank line, expected a row of CSV");
        }
        var row = JsonNodeFactory.instance.arrayNode();
        for (var cell : CsvText.cells(text)) {
            row.add(cell);
            try {
                CsvText.value(cell);
            } catch (BadInputException e) {
                throw new BadInputException("column %d: %s".formatted(row.size(), e.getMessage()), e);
            }
        }
        return row;
    }

    /// The row's columns followed by those of the answer.
    @Override
    public ArrayNode join(JsonNode input, JsonNode answer) {
        var row = JsonNodeFactory.instance.arrayNode();
        input.forEach(row::add);
        answer.forEach(row::add);
        return row;
    }

    @Override
    public ArrayNode error(String message) {
        return JsonNodeFactory.instance.arrayNode().add(Csv.quotedError(message));
    }

    @Override
    public boolean isError(JsonNode answer) {
        return Csv.isError(answer.path(0).asText());
    }

    /// @param record a row, or one cell
    @Override
    public String write(JsonNode record) {
        return record.isArray()
                ? record.valueStream().map(JsonNode::textValue).collect(Collectors.joining(","))
                : record.textValue();
    }

    /// A row may have line breaks between quotes.
    @Override
    public List<String> records(String text) {
        return CsvText.rows(text);
    }
}
