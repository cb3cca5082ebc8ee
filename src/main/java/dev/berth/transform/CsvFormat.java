package dev.berth.transform;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import dev.berth.content.Csv;
import dev.berth.content.Excerpt;
import dev.berth.hooks.BadInputException;
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
    int start = 0;
    while (start <= text.length()) {
      int end = endOfCell(text, start, row.size() + 1);
      row.add(text.substring(start, end));
      start = end + 1;
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

  private static int endOfCell(String text, int start, int column) {
    if (!text.startsWith("\"", start)) {
      int comma = text.indexOf(',', start);
      return comma < 0 ? text.length() : comma;
    }
    int quote = text.indexOf('"', start + 1);
    while (quote >= 0 && text.startsWith("\"", quote + 1)) {
      quote = text.indexOf('"', quote + 2);
    }
    if (quote < 0) {
      throw new BadInputException(
          "column %d: found %s, expected a second quote before the line's end"
              .formatted(column, Excerpt.quoted(text.substring(start))));
    }
    int end = quote + 1;
    if (end < text.length() && text.charAt(end) != ',') {
      throw new BadInputException(
          "column %d: found %s behind the second quote, expected a comma"
              .formatted(column, Excerpt.quoted(text.substring(end))));
    }
    return end;
  }
}
