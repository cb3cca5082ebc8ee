package dev.berth.content;

import dev.berth.hooks.BadInputException;
import dev.berth.hooks.ElementType;
import dev.berth.hooks.InvocationRequest;
import dev.berth.hooks.Tensor;
import java.io.IOException;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.regex.Pattern;
import java.util.stream.IntStream;

/// Tensors as CSV: each row a record of numbers, or of texts.
public final class CsvTensors {

    /// What may be the name of a column, and is no value that others write.
    private static final Pattern NAME =
            Pattern.compile("(?!(nan|na|n/a|null|none|inf|infinity|true|false)$)[\\p{L}_].*", Pattern.CASE_INSENSITIVE);

    /// A row that has not been looked at, so that a bad one can fail alone.
    ///
    /// @param name what messages call it: `row 1`, `row 2`, …
    /// @param table whose columns its cells are
    /// @param places where these stand in the row
    public record Row(String name, String[] cells, TableColumns table, int[] places) {

        /// The numbers as a tensor of one dimension, or as a scalar where there is one column.
        ///
        /// @param type what the numbers become; a fraction is refused where that has none, and so is a
        ///   number out of range
        /// @throws BadInputException naming the column that holds no such number, or the number of
        ///   columns
        public Tensor tensor(ElementType type) {
            return record(new TensorInputs(List.of(), List.of(type))).getFirst();
        }

        /// @throws BadInputException as [#tensor]
        List<Tensor> record(TensorInputs inputs) {
            if (cells.length != places.length) {
                throw new BadInputException("%s: found %d column%s, expected %d%s"
                        .formatted(
                                name,
                                cells.length,
                                cells.length == 1 ? "" : "s",
                                places.length,
                                !inputs.table().isKnown()
                                        ? " as in row 1"
                                        : table.names().isEmpty() ? "" : ": " + Excerpt.list(table.names())));
            }
            return table.record(
                    inputs::type,
                    (elements, column) ->
                            elements.addCell(cells[places[column]], expected -> bad(places[column], expected)));
        }

        private BadInputException bad(int column, String expected) {
            boolean isHeader = name.equals("row 1") && Arrays.stream(cells).noneMatch(NumberText::isNumber);
            return new BadInputException("%s, column %d: found %s, expected %s"
                    .formatted(
                            name,
                            column + 1,
                            Excerpt.quoted(cells[column].strip()),
                            isHeader ? expected + ", or header=present in the Content-Type" : expected));
        }
    }

    private CsvTensors() {}

    /// The rows of a body. With `header=present` in the content type the first one does not count.
    ///
    /// @throws BadInputException when there are none, or the body is not CSV
    public static List<Row> read(InvocationRequest request) throws IOException {
        return read(request, new TensorInputs(List.of(), List.of(ElementType.STRING)));
    }

    /// The rows of a body, with the columns of the model's table, where it has one, else with as many
    /// as the first row has. A header says where each of them stands.
    ///
    /// @throws BadInputException when there are no rows, the body is not CSV, or its header has other
    ///   names
    static List<Row> read(InvocationRequest request, TensorInputs inputs) throws IOException {
        var text = request.text();
        if (text.isBlank()) {
            throw new BadInputException("body: found nothing, expected rows of numbers");
        }
        var rows = Csv.rows(text);
        var first = Arrays.stream(rows.getFirst()).map(String::strip).toList();
        var table = inputs.table().isKnown() ? inputs.table() : TableColumns.unnamed(first.size());
        boolean hasHeader = hasHeader(first, rows.size(), request, inputs);
        boolean isNamed = hasHeader && !table.names().isEmpty();
        if (isNamed) {
            TableColumns.checkNames(first, table.names(), "row 1");
        }
        var places = isNamed ? table.names().stream().mapToInt(first::indexOf).toArray() : inOrder(table.count());
        return IntStream.range(hasHeader ? 1 : 0, rows.size())
                .mapToObj(i -> new Row("row " + (i + 1), rows.get(i), table, places))
                .toList();
    }

    /// Whether the first row is a header. The parameter `header` of the content type, `present` or
    /// `absent`, settles it. Else it is one when its cells are the names of the columns, in any
    /// order. Where those have none, any names above rows of numbers are a header; but not where a
    /// bad row has an answer of its own.
    private static boolean hasHeader(List<String> first, int rows, InvocationRequest request, TensorInputs inputs) {
        var declared = request.contentType().parameters().get("header");
        if ("present".equals(declared) || "absent".equals(declared)) {
            return declared.equals("present");
        }
        var names = inputs.table().names();
        if (!names.isEmpty()) {
            return first.size() == names.size() && new HashSet<>(first).equals(new HashSet<>(names));
        }
        return rows > 1
                && first.stream().allMatch(cell -> NAME.matcher(cell).matches())
                && new HashSet<>(first).size() == first.size()
                && inputs.types().stream().noneMatch(type -> type == ElementType.STRING || type == ElementType.BOOL)
                && !request.keepBadRecords();
    }

    static int[] inOrder(int count) {
        return IntStream.range(0, count).toArray();
    }

    /// The elements of a tensor as the cells of a row.
    public static Object[] cells(Tensor tensor) {
        return switch (tensor.type()) {
            case STRING -> tensor.texts().toArray();
            case FLOAT64 -> Arrays.stream(tensor.doubles()).boxed().toArray();
            case FLOAT16, FLOAT32 -> {
                var values = tensor.floats();
                yield IntStream.range(0, values.length).mapToObj(i -> values[i]).toArray();
            }
            case BOOL, UINT8, INT8, INT16, INT32, INT64 ->
                Arrays.stream(tensor.longs()).boxed().toArray();
        };
    }
}
