package dev.berth.content;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.BooleanNode;
import com.fasterxml.jackson.databind.node.DecimalNode;
import com.fasterxml.jackson.databind.node.DoubleNode;
import com.fasterxml.jackson.databind.node.NullNode;
import com.fasterxml.jackson.databind.node.TextNode;
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
            return record(TableColumns.unnamed(columns), new TensorInputs(List.of(), List.of(type)), inOrder(columns))
                    .getFirst();
        }

        /// @param places where the columns of the table stand in the row
        /// @throws BadInputException as [#tensor]
        List<Tensor> record(TableColumns table, TensorInputs inputs, int[] places) {
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
            return table.record(inputs::type, (elements, column) -> {
                int place = places[column];
                elements.add(value(place, elements.type()), expected -> bad(place, expected));
            });
        }

        /// A cell as JSON has it. An empty one is a missing value.
        private JsonNode value(int column, ElementType type) {
            if (type == ElementType.STRING) {
                return TextNode.valueOf(cells[column]);
            }
            var cell = cells[column].strip();
            if (type == ElementType.BOOL && (cell.equalsIgnoreCase("true") || cell.equalsIgnoreCase("false"))) {
                return BooleanNode.valueOf(cell.equalsIgnoreCase("true"));
            }
            if (cell.length() > MOST_DIGITS) {
                throw bad(column, "a number of at most %d characters".formatted(MOST_DIGITS));
            }
            try {
                return cell.isEmpty()
                        ? NullNode.instance
                        : type.isFloating()
                                ? DoubleNode.valueOf(NumberText.read(cell))
                                : DecimalNode.valueOf(NumberText.exact(cell));
            } catch (NumberFormatException _) {
                throw bad(column, "a number");
            } catch (ArithmeticException _) {
                // NaN and infinities are numbers, and none of a type without fractions.
                return NullNode.instance;
            }
        }

        /// What a header calls the columns.
        private List<String> names() {
            return Arrays.stream(cells).map(String::strip).toList();
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
        var rows = rows(request);
        var all = new TensorInputs(List.of(), List.of(ElementType.STRING));
        return rows.subList(hasHeader(rows, request, all) ? 1 : 0, rows.size());
    }

    /// The records of the rows of a body: of the columns of the model's table, where it has one, else
    /// of as many as the first row has. A header says where each of them stands.
    ///
    /// @throws BadInputException when there are no rows, the body is not CSV, or its header has other
    ///   names
    static TensorRecords records(InvocationRequest request, TensorInputs inputs) throws IOException {
        var all = rows(request);
        var first = all.getFirst().names();
        var table = inputs.table().isKnown() ? inputs.table() : TableColumns.unnamed(first.size());
        var names = table.names();
        boolean hasHeader = hasHeader(all, request, inputs);
        if (hasHeader && !names.isEmpty()) {
            TableColumns.checkNames(first, names, "row 1");
        }
        var places = hasHeader && !names.isEmpty()
                ? names.stream().mapToInt(first::indexOf).toArray()
                : inOrder(table.count());
        var rows = all.subList(hasHeader ? 1 : 0, all.size());
        return new TensorRecords(rows.size(), i -> rows.get(i).record(table, inputs, places), Instances.Form.LIST);
    }

    private static List<Row> rows(InvocationRequest request) throws IOException {
        var text = request.text();
        if (text.isBlank()) {
            throw new BadInputException("body: found nothing, expected rows of numbers");
        }
        var rows = Csv.rows(text);
        return IntStream.range(0, rows.size())
                .mapToObj(i -> new Row("row " + (i + 1), rows.get(i), rows.getFirst().length))
                .toList();
    }

    /// Whether the first row is a header. The parameter `header` of the content type, `present` or
    /// `absent`, settles it. Else it is one when its cells are the names of the columns, in any
    /// order. Where those have none, any names above rows of numbers are a header; but not where a
    /// bad row has an answer of its own.
    private static boolean hasHeader(List<Row> rows, InvocationRequest request, TensorInputs inputs) {
        var declared = request.contentType().parameters().get("header");
        if ("present".equals(declared) || "absent".equals(declared)) {
            return declared.equals("present");
        }
        var first = rows.getFirst().names();
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

    static int[] inOrder(int count) {
        return IntStream.range(0, count).toArray();
    }

    /// The elements of a tensor as the cells of a row.
    public static Object[] cells(Tensor tensor) {
        var numbers = tensor.type() == ElementType.BOOL ? tensor.as(ElementType.UINT8) : tensor;
        return JsonTensors.numbers(numbers, true).valueStream().toArray();
    }
}
