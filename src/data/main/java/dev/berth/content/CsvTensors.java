package dev.berth.content;

import dev.berth.hooks.BadInputException;
import dev.berth.hooks.ElementType;
import dev.berth.hooks.InvocationRequest;
import dev.berth.hooks.Tensor;
import java.io.IOException;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.function.Function;
import java.util.regex.Pattern;
import java.util.stream.IntStream;

/// Tensors as CSV: each row a record of numbers, or of texts.
public final class CsvTensors {

    /// What may be the name of a column, and is no value that others write.
    private static final Pattern NAME =
            Pattern.compile("(?!(nan|na|n/a|null|none|inf|infinity|true|false)$)[\\p{L}_].*", Pattern.CASE_INSENSITIVE);

    /// As in JSON, because reading more takes the square of the time.
    private static final int MOST_DIGITS = 1000;

    /// A row that has not been looked at, so that a bad one can fail alone.
    ///
    /// @param name what messages call it: `row 1`, `row 2`, …
    /// @param columns how many cells it should have
    public record Row(String name, String[] cells, int columns) {

        /// The numbers as a tensor of one dimension, or as a scalar where there is one column.
        ///
        /// @param type what the numbers become; a fraction is refused where that has none, and so is a
        ///   number out of range
        /// @throws BadInputException naming the column that holds no such number, or the number of
        ///   columns
        public Tensor tensor(ElementType type) {
            if (cells.length != columns) {
                throw badCount(" as in row 1");
            }
            return tensor(type, inOrder(columns)).reshape(columns == 1 ? new int[0] : new int[] {columns});
        }

        /// @param places where the columns of the table stand in the row
        /// @throws BadInputException as [#tensor]
        List<Tensor> record(TensorInputs inputs, int[] places) {
            if (cells.length != columns) {
                var names = inputs.table().names();
                throw badCount(names.isEmpty() ? "" : ": " + Excerpt.list(names));
            }
            return inputs.table()
                    .record((input, from, to) -> tensor(inputs.type(input), Arrays.copyOfRange(places, from, to)));
        }

        private BadInputException badCount(String because) {
            return new BadInputException("%s: found %d column%s, expected %d%s"
                    .formatted(name, cells.length, cells.length == 1 ? "" : "s", columns, because));
        }

        /// An empty cell is a missing value.
        private Tensor tensor(ElementType type, int[] places) {
            var chosen = Arrays.stream(places);
            if (type == ElementType.STRING) {
                return Tensor.of(chosen.mapToObj(column -> cells[column]).toArray(String[]::new), places.length);
            }
            return type.isFloating()
                    ? Tensor.of(chosen.mapToDouble(this::fraction).toArray(), places.length)
                            .as(type)
                    : Tensor.of(chosen.mapToLong(column -> whole(column, type)).toArray(), places.length)
                            .as(type);
        }

        private double fraction(int column) {
            return cells[column].isBlank() ? Double.NaN : number(column, NumberText::read);
        }

        private long whole(int column, ElementType type) {
            if (cells[column].isBlank()) {
                throw bad(column, "a whole number that is " + type);
            }
            var flag = type == ElementType.BOOL ? cells[column].strip().toLowerCase(Locale.ROOT) : "";
            if (flag.equals("true") || flag.equals("false")) {
                return flag.equals("true") ? 1 : 0;
            }
            try {
                long value = number(column, NumberText::exact).longValueExact();
                if (type.holds(value)) {
                    return value;
                }
            } catch (ArithmeticException _) {
                // It has a fraction, more digits than any type, or none.
            }
            throw bad(column, "a whole number that is " + type);
        }

        private <T> T number(int column, Function<String, T> read) {
            var cell = cells[column].strip();
            if (cell.length() > MOST_DIGITS) {
                throw bad(column, "a number of at most %d characters".formatted(MOST_DIGITS));
            }
            try {
                return read.apply(cell);
            } catch (NumberFormatException _) {
                throw bad(column, "a number");
            }
        }

        private boolean isHeader() {
            return name.equals("row 1") && Arrays.stream(cells).noneMatch(NumberText::isNumber);
        }

        private BadInputException bad(int column, String expected) {
            return new BadInputException("%s, column %d: found %s, expected %s"
                    .formatted(
                            name,
                            column + 1,
                            Excerpt.quoted(cells[column].strip()),
                            isHeader() ? expected + ", or header=present in the Content-Type" : expected));
        }
    }

    private CsvTensors() {}

    /// The rows of a body. With `header=present` in the content type the first one does not count.
    ///
    /// @throws BadInputException when there are none, or the body is not CSV
    public static List<Row> read(InvocationRequest request) throws IOException {
        return read(request, new TensorInputs(List.of(), List.of(ElementType.STRING)));
    }

    /// The rows of a body whose columns are not known, without its header.
    ///
    /// @throws BadInputException when there are none, or the body is not CSV
    static List<Row> read(InvocationRequest request, TensorInputs inputs) throws IOException {
        var rows = rows(request);
        return rows(rows, hasHeader(rows, request, inputs) ? 1 : 0, rows.getFirst().length);
    }

    /// The records of rows whose columns are known. A header says where each of them stands.
    ///
    /// @throws BadInputException when there are no rows, the body is not CSV, or its header has other
    ///   names
    static TensorRecords records(InvocationRequest request, TensorInputs inputs) throws IOException {
        var all = rows(request);
        var names = inputs.table().names();
        var first = cells(all.getFirst());
        boolean hasHeader = hasHeader(all, request, inputs);
        if (hasHeader && !names.isEmpty()) {
            TableColumns.checkNames(first, names, "row 1");
        }
        int count = inputs.table().count();
        var places = hasHeader && !names.isEmpty()
                ? names.stream().mapToInt(first::indexOf).toArray()
                : inOrder(count);
        var rows = rows(all, hasHeader ? 1 : 0, count);
        return new TensorRecords(rows.size(), i -> rows.get(i).record(inputs, places), Instances.Form.LIST);
    }

    /// Whether the first row is a header. The parameter `header` of the content type, `present` or
    /// `absent`, settles it. Else it is one when its cells are the names of the columns, in any
    /// order. Where those have none, any names above rows of numbers are a header; but not where a
    /// bad row has an answer of its own.
    private static boolean hasHeader(List<String[]> rows, InvocationRequest request, TensorInputs inputs) {
        var declared = request.contentType().parameters().get("header");
        if ("present".equals(declared) || "absent".equals(declared)) {
            return declared.equals("present");
        }
        var first = cells(rows.getFirst());
        var names = inputs.table().names();
        if (!names.isEmpty()) {
            return first.size() == names.size() && new HashSet<>(first).equals(new HashSet<>(names));
        }
        return rows.size() > 1
                && first.stream().allMatch(cell -> NAME.matcher(cell).matches())
                && new HashSet<>(first).size() == first.size()
                && inputs.types().stream().noneMatch(type -> type == ElementType.STRING || type == ElementType.BOOL)
                && !request.keepBadRecords();
    }

    private static List<String> cells(String[] row) {
        return Arrays.stream(row).map(String::strip).toList();
    }

    static int[] inOrder(int count) {
        return IntStream.range(0, count).toArray();
    }

    private static List<String[]> rows(InvocationRequest request) throws IOException {
        var text = request.text();
        if (text.isBlank()) {
            throw new BadInputException("body: found nothing, expected rows of numbers");
        }
        return Csv.rows(text);
    }

    private static List<Row> rows(List<String[]> rows, int first, int columns) {
        return IntStream.range(first, rows.size())
                .mapToObj(r -> new Row("row " + (r + 1), rows.get(r), columns))
                .toList();
    }

    /// The elements of a tensor as the cells of a row.
    public static Object[] cells(Tensor tensor) {
        return switch (tensor.type()) {
            case BOOL, UINT8, INT8, INT16, INT32, INT64 ->
                Arrays.stream(tensor.longs()).boxed().toArray();
            case FLOAT64 -> Arrays.stream(tensor.doubles()).boxed().toArray();
            case FLOAT16, FLOAT32 -> {
                var values = tensor.floats();
                var cells = new Object[values.length];
                Arrays.setAll(cells, i -> values[i]);
                yield cells;
            }
            case STRING -> tensor.texts().toArray();
        };
    }
}
