package dev.berth.content;

import dev.berth.hooks.BadInputException;
import dev.berth.hooks.InvocationRequest;
import dev.berth.tensor.ElementType;
import dev.berth.tensor.Tensor;
import java.io.IOException;
import java.util.Arrays;
import java.util.List;
import java.util.stream.IntStream;

/// Tensors as CSV: each row a record of numbers.
public final class CsvTensors {

  /// A row that has not been looked at, so that a bad one can fail alone.
  ///
  /// @param name what messages call it: `row 1`, `row 2`, …
  /// @param columns how many cells it should have
  public record Row(String name, String[] cells, int columns) {

    /// The numbers as a tensor of one dimension, or as a scalar where there is one column.
    ///
    /// @param type what the numbers become
    /// @throws BadInputException naming the column that holds no number, or the number of columns
    public Tensor tensor(ElementType type) {
      if (cells.length != columns) {
        throw new BadInputException("%s: found %d column%s, expected %d as in row 1".formatted(
            name, cells.length, cells.length == 1 ? "" : "s", columns));
      }
      var values = new double[columns];
      for (int c = 0; c < columns; c++) {
        values[c] = number(cells[c].strip(), "%s, column %d".formatted(name, c + 1));
      }
      return (columns == 1 ? Tensor.of(values) : Tensor.of(values, columns)).as(type);
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
      case BOOL, UINT8, INT8, INT16, INT32, INT64 -> Arrays.stream(tensor.longs()).boxed().toArray();
      case FLOAT64 -> Arrays.stream(tensor.doubles()).boxed().toArray();
      case FLOAT16, FLOAT32 -> {
        var values = tensor.floats();
        var cells = new Object[values.length];
        Arrays.setAll(cells, i -> values[i]);
        yield cells;
      }
    };
  }

  private static double number(String cell, String name) {
    try {
      return Double.parseDouble(cell);
    } catch (NumberFormatException e) {
      throw new BadInputException("%s: found %s, expected a number".formatted(name, Found.quoted(cell)), e);
    }
  }
}
