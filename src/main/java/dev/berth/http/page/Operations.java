package dev.berth.http.page;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import com.fasterxml.jackson.databind.node.TextNode;
import dev.berth.config.ServerConfig;
import dev.berth.error.ErrorType;
import dev.berth.hooks.MediaType;
import dev.berth.json.JsonText;
import dev.berth.serving.ModelFacts;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.function.BiFunction;
import java.util.function.Function;
import java.util.function.Predicate;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// The words for what OpenAPI's document says of a route, and what it says of those that several
/// routes share or that depend on the models. One that is null is not shown.
public final class Operations {

  /// The groups of routes, in the order in which they are shown.
  static final List<String> TAGS = List.of("model", "models", "server", "protocol", "page");

  private static final Logger log = LoggerFactory.getLogger(Operations.class);

  private static final int LARGEST_EXAMPLE = 64 << 10;

  /// How requests fail that have a body and are much work.
  private static final ErrorType[] WORK = {
    ErrorType.BAD_INPUT, ErrorType.PAYLOAD_TOO_LARGE, ErrorType.UNSUPPORTED_MEDIA_TYPE,
    ErrorType.INTERNAL, ErrorType.NOT_READY, ErrorType.DEADLINE_EXCEEDED,
    ErrorType.INSUFFICIENT_MEMORY
  };

  private final ServerConfig config;
  private final Catalog catalog;

  Operations(ServerConfig config, Catalog catalog) {
    this.config = config;
    this.catalog = catalog;
  }

  public Operation server(String summary) {
    return new Operation("server", summary, Operation.ERROR);
  }

  public Operation models(String summary, String answer) {
    return new Operation("models", summary, Operation.ERROR).answers(answer);
  }

  /// Of the Open Inference Protocol, whose errors have a form of their own.
  public Operation protocol(String summary, String answer) {
    return new Operation("protocol", summary, Operation.TEXT_ERROR).answers(answer);
  }

  public Operation page(String summary) {
    return new Operation("page", summary, Operation.ERROR);
  }

  public Operation page(String summary, String type) {
    return page(summary).answers(type, type.startsWith("text/") ? Schemas.text() : Schemas.any());
  }

  private Operation model(String summary, String errorForm) {
    return new Operation("model", summary, errorForm);
  }

  public Operation metrics() {
    return server("Metrics in the format of Prometheus").answers("text/plain", Schemas.text());
  }

  public Operation version() {
    return server("The version of the server").answers("text/plain", Schemas.text());
  }

  public Operation ping() {
    var operation = server("Whether the server can answer").fails(ErrorType.NOT_READY);
    operation.response(200, "The model can be asked. The body is empty");
    return operation;
  }

  public Operation ask(String summary) {
    var operation =
        model(summary, Operation.ERROR)
            .says(
                ("The types and examples are those of what is loaded. Accept chooses the type of the answer; "
                        + "without it, the answer is %s where the model writes that.")
                    .formatted(config.http().defaultAccept()))
            .header(
                "X-Amzn-SageMaker-Custom-Attributes",
                "handed on to the hooks, up to 1024 characters")
            .header("X-Amzn-SageMaker-Inference-Id", "stands in the log as the id of the request")
            .header("traceparent", "the trace that the request is a part of (W3C Trace Context)");
    var ok = operation.response(200, "The answer of the model");
    Operation.header(
        ok, "X-Amzn-SageMaker-Custom-Attributes", "what the hooks send back", "string");
    if (any(ModelFacts::sessions)) {
      operation.header(
          "X-Amzn-SageMaker-Session-Id", "the id of a session, or NEW_SESSION to open one");
      Operation.header(
          ok,
          "X-Amzn-SageMaker-New-Session-Id",
          "the id of a session that was opened, and when it ends",
          "string");
      Operation.header(
          ok,
          "X-Amzn-SageMaker-Closed-Session-Id",
          "the id of a session that was closed",
          "string");
    }
    types(operation.takes(), "ModelRequest", Catalog.Entry::takes, Operations::request);
    types(
        ok.putObject("content"),
        "ModelAnswer",
        Catalog.Entry::gives,
        (entry, _) -> response(entry));
    return asking(operation);
  }

  /// What every way to ask a model may answer.
  private static Operation asking(Operation operation) {
    return operation.fails(WORK).fails(ErrorType.NOT_ACCEPTABLE, ErrorType.OVERLOADED);
  }

  private boolean any(Predicate<ModelFacts> has) {
    return catalog.list().stream().anyMatch(entry -> entry.facts().filter(has).isPresent());
  }

  /// The types of all models together, each with its schema, and an example of each model that has
  /// one. Of many models each has forms of its own.
  ///
  /// @param title what generators call the class
  private void types(
      ObjectNode content,
      String title,
      Function<Catalog.Entry, List<MediaType>> ofOne,
      BiFunction<Catalog.Entry, MediaType, Optional<JsonNode>> example) {
    var models = catalog.list();
    var types = models.stream().flatMap(model -> ofOne.apply(model).stream()).distinct().toList();
    for (var type : types.isEmpty() ? List.of(MediaType.ANY) : types) {
      boolean isJson = type.equals(MediaType.JSON);
      var described = content.putObject(type.toString());
      described.set("schema", Schemas.of(type));
      if (!isJson && !type.equals(MediaType.JSON_LINES)) {
        continue;
      }
      for (var model : models) {
        example
            .apply(model, type)
            .ifPresent(
                value -> {
                  if (isJson && models.size() == 1) {
                    described.set("schema", Schemas.like(value).put("title", title));
                  }
                  described
                      .withObjectProperty("examples")
                      .putObject(key(model.name()))
                      .put("summary", model.name())
                      .set("value", isJson ? value : TextNode.valueOf(value.toString()));
                });
      }
    }
  }

  /// OpenAPI allows letters, digits and `._-` in such a key.
  private static String key(String name) {
    return name.replaceAll("[^A-Za-z0-9._-]", "-");
  }

  private static Optional<JsonNode> request(Catalog.Entry entry, MediaType type) {
    var readable = entry.requestTypes();
    return entry
        .sample()
        .filter(
            sample ->
                sample.types().contains(MediaType.JSON)
                    && (readable.isEmpty() || readable.contains(type)))
        .flatMap(sample -> read(sample.file()));
  }

  private static Optional<JsonNode> response(Catalog.Entry entry) {
    return entry.sample().flatMap(Sample::response).flatMap(Operations::read);
  }

  private static Optional<JsonNode> read(Path file) {
    try {
      return Files.size(file) > LARGEST_EXAMPLE
          ? Optional.empty()
          : Optional.of(JsonText.read(file));
    } catch (IOException e) {
      log.debug("{} is no example", file, e);
      return Optional.empty();
    }
  }

  public Operation chat() {
    return openAi("/v1/chat/completions", "{messages: [{role: '', content: null}]}", streams());
  }

  public Operation completions() {
    return openAi("/v1/completions", "{prompt: null}", streams());
  }

  public Operation embeddings() {
    return openAi("/v1/embeddings", "{input: null}", false);
  }

  private boolean streams() {
    return any(ModelFacts::streams);
  }

  /// @param example what the bodies have at least
  private Operation openAi(String path, String example, boolean streams) {
    if (!any(facts -> facts.openAiPaths().contains(path))) {
      return null;
    }
    var operation =
        model("Ask the model as OpenAI's clients do", Operation.NESTED_ERROR)
            .takes(example)
            .answers("{}");
    if (streams) {
      operation.answers(MediaType.EVENT_STREAM.toString(), Schemas.text());
    }
    return asking(operation);
  }

  public Operation openAiModels() {
    return model(
            "The models that can be asked, as OpenAI's clients list them", Operation.NESTED_ERROR)
        .answers("{object: '', data: [{id: '', object: '', created: 1, owned_by: ''}]}");
  }

  /// @param says whose clients they are, and what they want
  /// @param example what the bodies have at least; empty: there is none
  /// @param tasks of the models that answer them
  public Operation client(String says, String example, Set<String> tasks) {
    if (!any(facts -> facts.task().filter(tasks::contains).isPresent())) {
      return null;
    }
    var operation =
        model(says, Operation.ERROR)
            .says("Errors have the form and the status of that protocol.")
            .answers(MediaType.JSON.toString(), Schemas.any());
    return example.isEmpty() ? operation : operation.takes(example);
  }

  public Operation version1() {
    return model(
            "The model, for clients of OpenAI and of KServe's version 1", Operation.NESTED_ERROR)
        .answers("{id: '', object: '', created: 1, owned_by: '', name: '', ready: true}")
        .fails(ErrorType.NOT_READY);
  }

  /// Of Vertex AI and of KServe's version 1.
  public Operation predict() {
    return asking(
        model("Ask the model as Vertex AI and KServe's version 1 do", Operation.NESTED_ERROR)
            .takes("{instances: []}")
            .answers("{predictions: []}"));
  }

  public Operation signature() {
    return protocol(
            "The inputs and outputs of a model",
            "{name: '', versions: [''], platform: '', inputs: [%1$s], outputs: [%1$s]}"
                .formatted("{name: '', datatype: '', shape: [1]}"))
        .fails(ErrorType.NOT_READY);
  }

  public Operation modelReady() {
    return protocol("Whether a model can answer", "{name: '', ready: true}")
        .fails(ErrorType.NOT_READY);
  }

  public Operation infer() {
    return asking(
        protocol(
                "Ask a model with tensors",
                "{model_name: '', outputs: [{name: '', shape: [1], datatype: ''}]}")
            .says(
                "Binary data may stand behind the JSON, where Inference-Header-Content-Length says how long that is.")
            .takes("{inputs: [{name: '', shape: [1], datatype: '', data: []}]}"));
  }

  public Operation socket() {
    var operation =
        model(
                "A WebSocket: each message is a request, each part of an answer a frame",
                Operation.ERROR)
            .fails(
                ErrorType.BAD_INPUT,
                ErrorType.FORBIDDEN,
                ErrorType.UPGRADE_REQUIRED,
                ErrorType.NOT_READY);
    operation.response(101, "The socket is open");
    return operation;
  }

  public Operation load() {
    return models("Load a model", "{modelName: '', modelUrl: ''}")
        .says("The url is the directory of its artifact.")
        .takes("{model_name: '', url: ''}")
        .fails(WORK)
        .fails(ErrorType.NOT_FOUND, ErrorType.CONFLICT);
  }
}
