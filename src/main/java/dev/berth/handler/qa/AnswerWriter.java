package dev.berth.handler.qa;

import dev.berth.content.Csv;
import dev.berth.content.Json;
import dev.berth.content.JsonLines;
import dev.berth.hooks.MediaType;
import dev.berth.hooks.NotAcceptableException;
import java.io.IOException;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

/// Writes answers as JSON, JSON Lines or CSV. Safe for use by many threads.
///
/// A line never holds a raw line break in JSON Lines, because the next program splits there. CSV has the columns
/// `answer,score,start,end`, again for each further answer, and no header, as the platform joins rows by position.
final class AnswerWriter {

  static final List<MediaType> TYPES = QuestionReader.TYPES;

  String write(List<QuestionAnswer> answers, MediaType type) throws IOException {
    if (type.equals(MediaType.JSON)) {
      return json(answers);
    }
    if (JsonLines.TYPES.contains(type)) {
      return JsonLines.write(answers.stream().map(AnswerWriter::value).toList());
    }
    if (type.equals(MediaType.CSV)) {
      return Csv.write(answers.stream().map(AnswerWriter::cells).toList());
    }
    throw new NotAcceptableException("Accept: found %s, expected one of %s".formatted(type, TYPES));
  }

  private static String json(List<QuestionAnswer> answers) {
    if (answers.size() == 1 && answers.getFirst() instanceof QuestionAnswer.Answered(_, _, var alone) && alone) {
      return Json.write(value(answers.getFirst()));
    }
    return Json.write(answers.stream().map(AnswerWriter::value).toList());
  }

  /// What stands for one record: an answer, a list of answers, or an error in its place.
  private static Object value(QuestionAnswer answer) {
    return switch (answer) {
      case QuestionAnswer.Answered(var answers, var listed, _) -> listed ? answers : answers.getFirst();
      case QuestionAnswer.Rejected(var message) -> Map.of("error", message);
    };
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
