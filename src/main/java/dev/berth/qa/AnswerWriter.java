package dev.berth.qa;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.SequenceWriter;
import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.dataformat.csv.CsvMapper;
import com.fasterxml.jackson.dataformat.csv.CsvGenerator;
import dev.berth.hooks.MediaType;
import dev.berth.hooks.NotAcceptableException;
import java.io.IOException;
import java.io.StringWriter;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/// Writes answers as JSON, JSON Lines or CSV. Safe for use by many threads.
///
/// A line never holds a raw line break in JSON Lines, because the next program splits there. CSV has the columns
/// `answer,score,start,end`, again for each further answer, and no header, as the platform joins rows by position.
final class AnswerWriter {

  static final List<MediaType> TYPES = QuestionReader.TYPES;

  private static final JsonMapper JSON = new JsonMapper();
  private static final CsvMapper CSV =
      CsvMapper.builder().enable(CsvGenerator.Feature.STRICT_CHECK_FOR_QUOTING).build();

  String write(List<QuestionAnswer> answers, MediaType type) throws IOException {
    if (type.equals(MediaType.JSON)) {
      return json(answers);
    }
    if (QuestionReader.JSON_LINES.contains(type)) {
      return answers.stream().map(answer -> text(value(answer))).collect(Collectors.joining("\n"));
    }
    if (type.equals(MediaType.CSV)) {
      return csv(answers);
    }
    throw new NotAcceptableException("Accept: found %s, expected one of %s".formatted(type, TYPES));
  }

  private static String json(List<QuestionAnswer> answers) {
    if (answers.size() == 1 && answers.getFirst() instanceof QuestionAnswer.Answered(_, _, var alone) && alone) {
      return text(value(answers.getFirst()));
    }
    return text(answers.stream().map(AnswerWriter::value).toList());
  }

  /// What stands for one record: an answer, a list of answers, or an error in its place.
  private static Object value(QuestionAnswer answer) {
    return switch (answer) {
      case QuestionAnswer.Answered(var answers, var listed, _) -> listed ? answers : answers.getFirst();
      case QuestionAnswer.Rejected(var message) -> Map.of("error", message);
    };
  }

  private static String text(Object value) {
    try {
      return JSON.writeValueAsString(value);
    } catch (JsonProcessingException e) {
      throw new IllegalStateException("answers are plain values", e);
    }
  }

  private static String csv(List<QuestionAnswer> answers) throws IOException {
    var text = new StringWriter();
    try (SequenceWriter rows = CSV.writerFor(Object[].class).writeValues(text)) {
      for (var answer : answers) {
        rows.write(cells(answer));
      }
    }
    return text.toString();
  }

  private static Object[] cells(QuestionAnswer answer) {
    return switch (answer) {
      case QuestionAnswer.Answered(var answers, _, _) -> answers.stream()
          .flatMap(a -> Stream.of(a.answer(), a.score(), a.start(), a.end()))
          .toArray();
      case QuestionAnswer.Rejected(var message) -> new Object[] {"ERROR: " + message, "", "", ""};
    };
  }
}
