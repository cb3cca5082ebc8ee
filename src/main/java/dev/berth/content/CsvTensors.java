package dev.berth.content;

import dev.berth.hooks.BadInputException;
import dev.berth.hooks.ElementType;
import dev.berth.hooks.InvocationRequest;
import dev.berth.hooks.Tensor;
import java.io.IOException;
import java.math.BigDecimal;
import java.util.Arrays;
import java.util.List;
import java.util.regex.Pattern;
import java.util.stream.IntStream;

/// Tensors as CSV: each row a record of numbers.
public final class CsvTensors {

  /// As JSON and Python write numbers, and no others that Java reads. It never goes back, which
  /// would take hours for a long row of digits.
  private static final Pattern NUMBER =
      Pattern.compile("[-+]?(\\d++\\.?\\d*+|\\.\\d++)([eE][-+]?\\d++)?|NaN");

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
        throw new BadInputException(
            "%s: found %d column%s, expected %d as in row 1"
                .formatted(name, cells.length, cells.length == 1 ? "" : "s", columns));
      }
      var shape = columns == 1 ? new int[0] : new int[] {columns};
      return type.isFloating()
          ? Tensor.of(IntStream.range(0, columns).mapToDouble(this::fraction).toArray(), shape)
              .as(type)
          : Tensor.of(
                  IntStream.range(0, columns).mapToLong(column -> whole(column, type)).toArray(),
                  shape)
              .as(type);
    }

    private double fraction(int column) {
      return Double.parseDouble(number(column));
    }

    private long whole(int column, ElementType type) {
      try {
        long value = new BigDecimal(number(column)).longValueExact();
        if (type.holds(value)) {
          return value;
        }
      } catch (NumberFormatException e) {
        throw bad(column, "a number");
      } catch (ArithmeticException _) {
        // It has a fraction, or more digits than any type.
      }
      throw bad(column, "a whole number that is " + type);
    }

    private String number(int column) {
      var cell = cells[column].strip();
      if (cell.length() > MOST_DIGITS) {
        throw bad(column, "a number of at most %d characters".formatted(MOST_DIGITS));
      }
      if (!NUMBER.matcher(cell).matches()) {
        throw bad(column, "a number");
      }
      return cell;
    }

    private boolean isHeader() {
      return name.equals("row 1")
          && Arrays.stream(cells).noneMatch(cell -> NUMBER.matcher(cell.strip()).matches());
    }

    private BadInputException bad(int column, String expected) {
      return new BadInputException(
          "%s, column %d: found %s, expected %s"
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
    var text = request.text();
    if (text.isBlank()) {
      throw new BadInputException("body: found nothing, expected rows of numbers");
    }
    var rows = Csv.rows(text);
    int header = "present".equals(request.contentType().parameters().get("header")) ? 1 : 0;
    return IntStream.range(header, rows.size())
        .mapToObj(r -> new Row("row " + (r + 1), rows.get(r), rows.getFirst().length))
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
    };
  }
}
