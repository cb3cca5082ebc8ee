package dev.berth.content;

import dev.berth.hooks.BadInputException;
import java.util.ArrayList;
import java.util.List;

/// CSV (RFC 4180) as text, cell by cell: where rows and cells end, for everybody who reads it. For
/// one thread.
///
/// A quote at the beginning of a cell opens it, and the next one that is not doubled closes it;
/// commas and line breaks in between are the cell's. A quote elsewhere is a character as any other:
/// `6" pipe,3` has two cells.
public final class CsvText {

    private final String text;
    private int start;

    /// Where the comma, the line break or the end behind the cell is.
    private int end = -1;

    CsvText(String text) {
        this.text = text;
    }

    /// The rows with their line breaks. There is none behind the last line break.
    public static List<String> rows(String text) {
        var rows = new ArrayList<String>();
        int row = 0;
        for (var cells = new CsvText(text); cells.next(); ) {
            if (cells.endsRow()) {
                int behind = Math.min(text.length(), cells.end + 1);
                rows.add(text.substring(row, behind));
                row = behind;
            }
        }
        return rows;
    }

    public static List<String> cells(String row) {
        var all = new ArrayList<String>();
        for (var cells = new CsvText(row); cells.next(); ) {
            all.add(cells.cell());
        }
        return all;
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

    /// Goes on to the next cell; false: there is none.
    boolean next() {
        start = end + 1;
        if (start > text.length() || (start == text.length() && !isBehind(','))) {
            return false;
        }
        end = start;
        if (text.startsWith("\"", start)) {
            int close = closingQuote(text, start);
            end = close < 0 ? text.length() : close;
        }
        while (end < text.length() && text.charAt(end) != ',' && text.charAt(end) != '\n') {
            end++;
        }
        return true;
    }

    private boolean isBehind(char c) {
        return start > 0 && text.charAt(start - 1) == c;
    }

    String cell() {
        boolean isBeforeReturn =
                end < text.length() && text.charAt(end) == '\n' && end > start && text.charAt(end - 1) == '\r';
        return text.substring(start, isBeforeReturn ? end - 1 : end);
    }

    boolean endsRow() {
        return end == text.length() || text.charAt(end) == '\n';
    }

    private static int closingQuote(String text, int open) {
        int quote = text.indexOf('"', open + 1);
        while (quote >= 0 && text.startsWith("\"", quote + 1)) {
            quote = text.indexOf('"', quote + 2);
        }
        return quote;
    }
}
