package dev.berth.handler.qa;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import dev.berth.content.ContentType.OfDocuments;
import dev.berth.content.ContentTypes;
import dev.berth.content.Documents;
import dev.berth.content.Excerpt;
import dev.berth.hooks.BadInputException;
import dev.berth.hooks.InvocationRequest;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Supplier;

/// Finds the questions in a payload's documents, whatever it was written in. Safe for use by many
/// threads.
///
/// A payload of records gives one supplier for each, so that a bad one can fail alone. Whatever
/// else is wrong fails the payload.
final class QuestionReader {

  private static final List<String> FIELDS = List.of("question", "context");

  private static final String FORMS =
      "expected {\"question\": …, \"context\": …}, a list of those, or {\"inputs\": …,"
          + " \"parameters\": …}";

  private final Parameters defaults;
  private final int modelLimit;

  /// @param defaults what a request's parameters are where it leaves them out
  /// @param modelLimit the most tokens that the model takes at once
  QuestionReader(Parameters defaults, int modelLimit) {
    this.defaults = defaults;
    this.modelLimit = modelLimit;
  }

  List<Supplier<Question>> read(InvocationRequest request) throws IOException {
    return switch (ContentTypes.reading(request, OfDocuments.class)
        .readDocuments(request, FIELDS)) {
      case Documents.Body(var json) -> body(json);
      case Documents.Records(var documents) ->
          documents.stream().<Supplier<Question>>map(document -> () -> record(document)).toList();
    };
  }

  private List<Supplier<Question>> body(JsonNode body) {
    if (body.isObject() && body.has("inputs")) {
      var parameters = defaults.with(body.path("parameters"), "parameters", modelLimit);
      return questions(body.path("inputs"), "inputs", parameters);
    }
    if (!body.isObject() && !body.isArray()) {
      throw new BadInputException("body: found %s, %s".formatted(Excerpt.of(body), FORMS));
    }
    return questions(body, "", defaults.with(body.path("parameters"), "parameters", modelLimit));
  }

  private static List<Supplier<Question>> questions(
      JsonNode body, String name, Parameters parameters) {
    var json = listed(body, name);
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

  /// `{"question": […], "context": …}` as a list of records: several questions about one context,
  /// or each about its own.
  private static JsonNode listed(JsonNode json, String name) {
    var questions = json.path("question");
    if (!questions.isArray()) {
      return json;
    }
    var contexts = json.path("context");
    if (contexts.isArray() && contexts.size() != questions.size()) {
      throw new BadInputException(
          "%s: found %d for %d questions, expected as many, or one text for all"
              .formatted(Question.field(name, "context"), contexts.size(), questions.size()));
    }
    var records = JsonNodeFactory.instance.arrayNode(questions.size());
    for (int i = 0; i < questions.size(); i++) {
      var record = records.addObject();
      record.set("question", questions.path(i));
      if (json.has("context")) {
        record.set("context", contexts.isArray() ? contexts.path(i) : contexts);
      }
    }
    return records;
  }

  private Question record(Documents.Document document) {
    var name = document.name();
    var object = document.json();
    var parameters = defaults.with(object.path("parameters"), name + ": parameters", modelLimit);
    return object.has("inputs")
        ? Question.read(object.path("inputs"), name + ": inputs", parameters, false)
        : Question.read(object, name, parameters, false);
  }
}
