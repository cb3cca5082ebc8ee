package dev.berth.content;

import dev.berth.hooks.BadInputException;
import dev.berth.hooks.InvocationRequest;
import dev.berth.tensor.ElementType;
import dev.berth.tensor.Tensor;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/// Tensors as CSV: each row a record of numbers.
public final class CsvTensors {

  private CsvTensors() {}

  /// Reads each row into a tensor of one dimension, or into a scalar where the rows have one column. With `header=present`
  /// in the content type the first row does not count.
  ///
  /// @param type what the numbers become
  /// @throws BadInputException naming the row and the column that holds no number, or the row of another length
  public static List<Tensor> read(InvocationRequest request, ElementType type) throws IOException {
    var text = request.text();
    if (text.isBlank()) {
      throw new BadInputException("body: found nothing, expected rows of numbers");
    }
    var rows = Csv.rows(text);
    int header = "present".equals(request.contentType().parameters().get("header")) ? 1 : 0;
    int columns = rows.getFirst().length;
    var tensors = new ArrayList<Tensor>();
    for (int r = header; r < rows.size(); r++) {
      if (rows.get(r).length != columns) {
        throw new BadInputException("row %d: found %d column%s, expected %d as in row 1".formatted(
            r + 1, rows.get(r).length, rows.get(r).length == 1 ? "" : "s", columns));
      }
      var values = new double[columns];
      for (int c = 0; c < columns; c++) {
        values[c] = number(rows.get(r)[c].strip(), r + 1, c + 1);
      }
      tensors.add((columns == 1 ? Tensor.of(values) : Tensor.of(values, columns)).as(type));
    }
    return tensors;
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

  private static double number(String cell, int row, int column) {
    try {
      return Double.parseDouble(cell);
    } catch (NumberFormatException e) {
      throw new BadInputException("row %d, column %d: found %s, expected a number".formatted(row, column, Found.quoted(cell)), e);
    }
  }
}
