package dev.berth.qa;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.StreamReadConstraints;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import dev.berth.hooks.BadInputException;
import dev.berth.hooks.InvocationRequest;
import dev.berth.hooks.MediaType;
import dev.berth.hooks.UnsupportedMediaTypeException;
import java.io.IOException;
import java.io.UncheckedIOException;
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

  /// SageMaker's name for lines of JSON, and others that people use.
  static final List<MediaType> JSON_LINES = List.of(
      MediaType.JSON_LINES, MediaType.of("application", "jsonl"), MediaType.of("application", "x-ndjson"));

  static final List<MediaType> TYPES =
      Stream.of(List.of(MediaType.JSON), JSON_LINES, List.of(MediaType.CSV)).flatMap(List::stream).toList();

  /// The server limits the payload's size; a context may be as long as that.
  static final StreamReadConstraints ANY_LENGTH =
      StreamReadConstraints.builder().maxStringLength(Integer.MAX_VALUE).build();

  private static final String FORMS =
      "expected {\"question\": …, \"context\": …}, a list of those, or {\"inputs\": …, \"parameters\": …}";

  private final Parameters defaults;
  private final int modelLimit;
  private final JsonMapper json;

  /// @param defaults what a request's parameters are where it leaves them out
  /// @param modelLimit the most tokens that the model takes at once
  QuestionReader(Parameters defaults, int modelLimit) {
    this.defaults = defaults;
    this.modelLimit = modelLimit;
    var factory = JsonFactory.builder().streamReadConstraints(ANY_LENGTH).build();
    this.json = JsonMapper.builder(factory).build();
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
    if (JSON_LINES.contains(type)) {
      return readJsonLines(text);
    }
    if (type.equals(MediaType.CSV)) {
      return new CsvQuestions(defaults).read(text, request.contentType());
    }
    throw new UnsupportedMediaTypeException("Content-Type: found %s, expected one of %s".formatted(type, TYPES));
  }

  private List<Supplier<Question>> readJson(String text) throws IOException {
    var body = parse(text, "body");
    if (body.isObject() && body.has("inputs")) {
      var parameters = defaults.with(body.path("parameters"), "parameters", modelLimit);
      return questions(body.path("inputs"), "inputs", parameters);
    }
    if (!body.isObject() && !body.isArray()) {
      throw new BadInputException("body: found %s, %s".formatted(Found.in(body), FORMS));
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

  /// Blank lines at the end do not count. One before that is a bad record and not skipped, because a batch-transform
  /// job joins its input and output line by line.
  private List<Supplier<Question>> readJsonLines(String text) {
    var lines = text.stripTrailing().split("\n", -1);
    var questions = new ArrayList<Supplier<Question>>(lines.length);
    for (int i = 0; i < lines.length; i++) {
      var line = lines[i];
      var name = "line " + (i + 1);
      questions.add(() -> readLine(line, name));
    }
    return questions;
  }

  private Question readLine(String line, String name) {
    try {
      return parseLine(line, name);
    } catch (IOException e) {
      throw new UncheckedIOException("a line is in memory already", e);
    }
  }

  private Question parseLine(String line, String name) throws IOException {
    if (line.isBlank()) {
      throw new BadInputException(name + ": found a blank line, expected a JSON object");
    }
    var object = parse(line, name);
    var parameters = defaults.with(object.path("parameters"), name + ": parameters", modelLimit);
    return object.has("inputs")
        ? Question.read(object.path("inputs"), name + ": inputs", parameters, false)
        : Question.read(object, name, parameters, false);
  }

  private JsonNode parse(String text, String name) throws IOException {
    try (var parser = json.createParser(text)) {
      JsonNode value = json.readTree(parser);
      if (parser.nextToken() != null) {
        throw new BadInputException(
            "%s: found a second JSON value at line %d, column %d; for JSON Lines the content type is application/jsonlines"
                .formatted(
                    name, parser.currentTokenLocation().getLineNr(), parser.currentTokenLocation().getColumnNr()));
      }
      return value;
    } catch (JsonProcessingException e) {
      throw new BadInputException("%s: not JSON%s: %s".formatted(name, place(text, e), e.getOriginalMessage()), e);
    }
  }

  /// Where the text stops to be JSON; one line needs no line number, and a text that is too deep or too long has no
  /// place.
  private static String place(String text, JsonProcessingException e) {
    var location = e.getLocation();
    if (location == null) {
      return "";
    }
    return text.indexOf('\n') < 0
        ? " at column " + location.getColumnNr()
        : " at line %d, column %d".formatted(location.getLineNr(), location.getColumnNr());
  }
}
