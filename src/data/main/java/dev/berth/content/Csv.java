package dev.berth.content;

import com.fasterxml.jackson.databind.JsonNode;
import dev.berth.hooks.BadInputException;
import dev.berth.memory.HeapSize;
import dev.berth.memory.RequestMemory;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Collectors;
import org.apache.commons.text.StringEscapeUtils;

/// CSV (RFC 4180) in and out. Quoted fields may hold commas, doubled quotes and line breaks.
public final class Csv {

    private static final String ERROR = "ERROR: ";

    private Csv() {}

    /// The rows of a text, a header included where it has one. Blank lines at its end do not count.
    ///
    /// @throws BadInputException with the row and column that is not CSV
    public static List<String[]> rows(String text) throws IOException {
        var body = text.stripTrailing();
        if (body.indexOf('\n') < 0 && body.indexOf('"') < 0) {
            // As spreadsheets save it for an old Mac.
            body = body.replace('\r', '\n');
        }
        RequestMemory.charge(HeapSize.CHARACTER * body.length());
        var rows = new ArrayList<String[]>();
        var row = new ArrayList<String>();
        for (var cells = new CsvText(body); cells.next(); ) {
            row.add(value(cells.cell(), rows.size() + 1, row.size() + 1));
            RequestMemory.charge(HeapSize.TEXT);
            if (cells.endsRow()) {
                RequestMemory.charge(HeapSize.LIST);
                rows.add(row.toArray(String[]::new));
                row.clear();
            }
        }
        return rows;
    }

    private static String value(String cell, int row, int column) {
        try {
            return CsvText.value(cell);
        } catch (BadInputException e) {
            throw new BadInputException("row %d, column %d: %s".formatted(row, column, e.getMessage()), e);
        }
    }

    /// Rows of cells, which are quoted where they have to be; each ends in a line break. None is a
    /// blank line, which many readers skip: without a character in its cells it is `""`.
    ///
    /// @param rows texts, numbers, and values of JSON that are no lists or objects
    public static String write(List<Object[]> rows) {
        return String.join("", rows.stream().map(Csv::line).toList());
    }

    private static String line(Object[] row) {
        var line = Arrays.stream(row).map(Csv::escaped).collect(Collectors.joining(",", "", "\n"));
        RequestMemory.charge(HeapSize.TEXT + HeapSize.CHARACTER * line.length());
        return line.equals("\n") ? "\"\"\n" : line;
    }

    private static String escaped(Object cell) {
        return switch (cell) {
            case null -> "";
            case Number number -> number.toString();
            case JsonNode value -> StringEscapeUtils.escapeCsv(value.asText(""));
            default -> StringEscapeUtils.escapeCsv(cell.toString());
        };
    }

    /// The cell that stands in the place of a bad record's answer.
    static String error(String message) {
        return ERROR + message;
    }

    /// That cell as it is written, on one line.
    public static String quotedError(String message) {
        return "\"%s\"".formatted(error(message).replace("\"", "\"\"").replaceAll("\\R", " "));
    }

    /// Whether a cell as it is written is an error.
    public static boolean isError(String cell) {
        return cell.startsWith(ERROR) || cell.startsWith("\"" + ERROR);
    }
}
