package dev.berth.content;

import com.fasterxml.jackson.databind.JsonNode;
import dev.berth.hooks.BadInputException;
import dev.berth.memory.HeapSize;
import dev.berth.memory.RequestMemory;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.apache.commons.text.StringEscapeUtils;

/// CSV (RFC 4180) in and out.
///
/// A quote at the beginning of a cell opens it, and the next one that is not doubled closes it;
/// commas and line breaks in between are the cell's. A quote elsewhere is a character as any other:
/// `6" pipe,3` has two cells.
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
        for (int start = 0; start < body.length(); row.clear()) {
            start = addCells(body, start, row) + 1;
            RequestMemory.charge(HeapSize.LIST);
            var cells = row.toArray(String[]::new);
            for (int i = 0; i < cells.length; i++) {
                try {
                    cells[i] = value(cells[i]);
                } catch (BadInputException e) {
                    throw new BadInputException(
                            "row %d, column %d: %s".formatted(rows.size() + 1, i + 1, e.getMessage()), e);
                }
            }
            rows.add(cells);
        }
        return rows;
    }

    /// The rows as they stand in a text, with their line breaks. There is none behind the last line
    /// break.
    public static List<String> split(String text) {
        var rows = new ArrayList<String>();
        for (int start = 0, behind; start < text.length(); start = behind) {
            int end = cellEnd(text, start);
            while (end < text.length() && text.charAt(end) == ',') {
                end = cellEnd(text, end + 1);
            }
            behind = Math.min(text.length(), end + 1);
            RequestMemory.charge(HeapSize.TEXT);
            rows.add(text.substring(start, behind));
        }
        return rows;
    }

    /// The cells as they stand in a row.
    public static List<String> cells(String row) {
        var cells = new ArrayList<String>();
        var _ = addCells(row, 0, cells);
        return cells;
    }

    /// @param start of a row
    /// @return where the line break or the end behind it is
    private static int addCells(String text, int start, List<String> cells) {
        for (int from = start; ; ) {
            int end = cellEnd(text, from);
            boolean isBeforeReturn = text.startsWith("\r\n", end - 1) && end > from;
            RequestMemory.charge(HeapSize.TEXT);
            cells.add(text.substring(from, isBeforeReturn ? end - 1 : end));
            if (!text.startsWith(",", end)) {
                return end;
            }
            from = end + 1;
        }
    }

    /// What a cell holds.
    ///
    /// @throws BadInputException when its quotes are not those of one cell
    public static String value(String cell) {
        if (!cell.startsWith("\"")) {
            return cell;
        }
        int close = closingQuote(cell, 0);
        if (close < 0) {
            throw new BadInputException("found %s, expected a second quote at its end".formatted(Excerpt.quoted(cell)));
        }
        var behind = cell.substring(close + 1);
        if (!behind.isBlank()) {
            throw new BadInputException(
                    "found %s behind the second quote, expected a comma".formatted(Excerpt.quoted(behind)));
        }
        return cell.substring(1, close).replace("\"\"", "\"");
    }

    /// Where the comma, the line break or the end behind a cell is.
    private static int cellEnd(String text, int start) {
        int end = start;
        if (text.startsWith("\"", start)) {
            int close = closingQuote(text, start);
            end = close < 0 ? text.length() : close;
        }
        while (end < text.length() && text.charAt(end) != ',' && text.charAt(end) != '\n') {
            end++;
        }
        return end;
    }

    private static int closingQuote(String text, int open) {
        int quote = text.indexOf('"', open + 1);
        while (quote >= 0 && text.startsWith("\"", quote + 1)) {
            quote = text.indexOf('"', quote + 2);
        }
        return quote;
    }

    /// Rows of cells, which are quoted where they have to be; each ends in a line break. None is a
    /// blank line, which many readers skip: without a character in its cells it is `""`.
    ///
    /// @param rows texts, numbers, and values of JSON that are no lists or objects
    public static String write(List<Object[]> rows) {
        return String.join("", rows.stream().map(Csv::line).toList());
    }

    static String line(Object[] row) {
        var line = new StringBuilder();
        RequestMemory.charge(HeapSize.TEXT);
        for (int i = 0; i < row.length; i++) {
            var cell = escaped(row[i]);
            RequestMemory.charge(HeapSize.CHARACTER * (1 + cell.length()));
            line.append(i == 0 ? "" : ",").append(cell);
        }
        return line.isEmpty() ? "\"\"\n" : line.append('\n').toString();
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
