package dev.berth.handler.qa;

import dev.berth.content.Csv;
import dev.berth.content.Excerpt;
import dev.berth.hooks.BadInputException;
import dev.berth.hooks.MediaType;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.function.Supplier;

/// Reads questions from CSV (RFC 4180): the columns `question,context`, or a header that says where those two are.
/// Quoted fields may hold commas, doubled quotes and line breaks.
final class CsvQuestions {

  private final Parameters parameters;

  CsvQuestions(Parameters parameters) {
    this.parameters = parameters;
  }

  /// @param contentType its parameter `header` (`present` or `absent`) settles whether the first row is a header;
  ///     else the row is one when it names both columns
  List<Supplier<Question>> read(String text, MediaType contentType) throws IOException {
    var rows = Csv.rows(text);
    var header = header(rows.getFirst(), contentType.parameters().get("header"));
    var questions = new ArrayList<Supplier<Question>>(rows.size());
    for (int i = header.rows(); i < rows.size(); i++) {
      var row = rows.get(i);
      var name = "row " + (i + 1);
      questions.add(() -> question(row, name, header));
    }
    return questions;
  }

  private static Header header(String[] row, String declared) {
    var names = Arrays.stream(row).map(name -> name.strip().toLowerCase(Locale.ROOT)).toList();
    var header = new Header(1, names.indexOf("question"), names.indexOf("context"), row.length);
    boolean named = header.question >= 0 && header.context >= 0;
    boolean half = names.contains("question") || names.contains("context");
    if (!named && ("present".equals(declared) || (half && !"absent".equals(declared)))) {
      throw new BadInputException(
          "row 1: found the header %s, expected the columns question and context; header=absent says that it is a record"
              .formatted(Excerpt.quoted(String.join(",", row))));
    }
    return named && !"absent".equals(declared) ? header : new Header(0, 0, 1, 2);
  }

  private Question question(String[] row, String name, Header header) {
    if (row.length != header.columns) {
      throw new BadInputException("%s: found %d column%s separated by commas, expected %d%s".formatted(
          name, row.length, row.length == 1 ? "" : "s", header.columns,
          header.rows == 1 ? " as in the header" : ": question,context, or a header that names them"));
    }
    return new Question(name, row[header.question], row[header.context], parameters, false);
  }

  /// Where the columns are, and how many rows the header takes: 1 or 0.
  private record Header(int rows, int question, int context, int columns) {}
}
