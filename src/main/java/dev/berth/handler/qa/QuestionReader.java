package dev.berth.handler.qa;

import com.fasterxml.jackson.databind.JsonNode;
import dev.berth.content.Excerpt;
import dev.berth.content.Json;
import dev.berth.content.JsonLines;
import dev.berth.hooks.BadInputException;
import dev.berth.hooks.InvocationRequest;
import dev.berth.hooks.MediaType;
import dev.berth.hooks.UnsupportedMediaTypeException;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Supplier;
import java.util.stream.Stream;

/// Reads the questions of a payload: JSON here, JSON Lines line by line, CSV in [CsvQuestions]. Safe for use by many
/// threads.
///
/// A body of lines gives one supplier for each line, so that a bad one may fail alone; whatever else is wrong fails the
/// payload.
final class QuestionReader {

  static final List<MediaType> TYPES =
      Stream.of(List.of(MediaType.JSON), JsonLines.TYPES, List.of(MediaType.CSV)).flatMap(List::stream).toList();

  private static final String FORMS =
      "expected {\"question\": …, \"context\": …}, a list of those, or {\"inputs\": …, \"parameters\": …}";

  private final Parameters defaults;
  private final int modelLimit;

  /// @param defaults what a request's parameters are where it leaves them out
  /// @param modelLimit the most tokens that the model takes at once
  QuestionReader(Parameters defaults, int modelLimit) {
    this.defaults = defaults;
    this.modelLimit = modelLimit;
  }

  /// Whether the payload's records are lines, each of which may be answered by an error in its place.
  static boolean isLines(MediaType contentType) {
    return !MediaType.JSON.includes(contentType);
  }

  List<Supplier<Question>> read(InvocationRequest request) throws IOException {
    var type = request.contentType().withoutParameters();
    var text = request.text();
    if (text.isBlank()) {
      throw new BadInputException("body: found nothing, " + FORMS);
    }
    if (type.equals(MediaType.JSON)) {
      return readJson(text);
    }
    if (JsonLines.TYPES.contains(type)) {
      return readJsonLines(text);
    }
    if (type.equals(MediaType.CSV)) {
      return new CsvQuestions(defaults).read(text, request.contentType());
    }
    throw new UnsupportedMediaTypeException("Content-Type: found %s, expected one of %s".formatted(type, TYPES));
  }

  private List<Supplier<Question>> readJson(String text) {
    var body = Json.parse(text, "body");
    if (body.isObject() && body.has("inputs")) {
      var parameters = defaults.with(body.path("parameters"), "parameters", modelLimit);
      return questions(body.path("inputs"), "inputs", parameters);
    }
    if (!body.isObject() && !body.isArray()) {
      throw new BadInputException("body: found %s, %s".formatted(Excerpt.of(body), FORMS));
    }
    return questions(body, "", defaults.with(body.path("parameters"), "parameters", modelLimit));
  }

  private static List<Supplier<Question>> questions(JsonNode json, String name, Parameters parameters) {
    if (!json.isArray()) {
      var question = Question.read(json, name, parameters, true);
      return List.of(() -> question);
    }
    var questions = new ArrayList<Supplier<Question>>(json.size());
    for (int i = 0; i < json.size(); i++) {
      var question = Question.read(json.path(i), "%s[%d]".formatted(name, i), parameters, false);
      questions.add(() -> question);
    }
    return questions;
  }

  private List<Supplier<Question>> readJsonLines(String text) {
    return JsonLines.lines(text).stream().<Supplier<Question>>map(line -> () -> readLine(line)).toList();
  }

  private Question readLine(JsonLines.Line line) {
    var name = line.name();
    var object = line.json();
    var parameters = defaults.with(object.path("parameters"), name + ": parameters", modelLimit);
    return object.has("inputs")
        ? Question.read(object.path("inputs"), name + ": inputs", parameters, false)
        : Question.read(object, name, parameters, false);
  }
}
