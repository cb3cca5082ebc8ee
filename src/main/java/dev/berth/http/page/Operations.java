package dev.berth.http.page;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import com.fasterxml.jackson.databind.node.TextNode;
import dev.berth.config.ServerConfig;
import dev.berth.error.ErrorType;
import dev.berth.hooks.MediaType;
import dev.berth.json.JsonText;
import dev.berth.serving.ServedModel;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Function;
import java.util.function.Predicate;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// What OpenAPI's document says of each route. **A new route needs a case in [#describe]**: a test
/// fails where one is missing.
final class Operations {

  /// The groups of routes, in the order in which they are shown.
  static final List<String> TAGS = List.of("model", "models", "server", "protocol", "page");

  private static final Logger log = LoggerFactory.getLogger(Operations.class);

  private static final JsonNodeFactory NODES = JsonNodeFactory.instance;

  private static final String ANY_JSON = "application/json";
  private static final int LARGEST_EXAMPLE = 64 << 10;

  private final ServerConfig config;
  private final Catalog catalog;
  private final Function<ErrorType, Map.Entry<String, ObjectNode>> errors;

  /// @param errors the status of an error, and its response
  Operations(
      ServerConfig config,
      Catalog catalog,
      Function<ErrorType, Map.Entry<String, ObjectNode>> errors) {
    this.config = config;
    this.catalog = catalog;
    this.errors = errors;
  }

  /// What a method of a route does; nothing where this does not know it.
  Optional<ObjectNode> describe(String method, String path) {
    if (path.equals(config.http().metricsPath())) {
      return Optional.of(
          answering(operation("server", "Metrics in the format of Prometheus"), "text/plain"));
    }
    var platform = config.platform();
    if (platform.predictRoute().filter(path::equals).isPresent()) {
      return Optional.of(predict());
    }
    if (platform.healthRoute().filter(path::equals).isPresent()) {
      return Optional.of(ping());
    }
    return Optional.ofNullable(
        switch (method + " " + path) {
          case "GET /ping", "POST /ping" -> ping();
          case "POST /invocations" -> ask("Ask the model", true);
          case "POST /inferences" -> ask("Ask the model, by another name of /invocations", true);
          case "POST /v1/chat/completions" ->
              ask("Ask the model as OpenAI's clients do: chat completions", false);
          case "POST /v1/completions" ->
              ask("Ask the model as OpenAI's clients do: completions", false);
          case "POST /v1/embeddings" ->
              ask("Ask the model as OpenAI's clients do: embeddings", false);
          case "GET /v1/models" -> models("The model, as OpenAI's clients list it");
          case "POST /models/{name}/invoke" -> named(ask("Ask one of the models", true));
          case "GET /invocations-bidirectional-stream" -> socket();
          case "GET /models/{name}/invocations-bidirectional-stream" -> named(socket());
          case "GET /execution-parameters" ->
              fails(
                  answering(
                      operation("server", "How a batch transform job should call this container"),
                      ANY_JSON),
                  ErrorType.NOT_FOUND);
          case "GET /models" -> listing();
          case "POST /models" -> loading();
          case "GET /models/{name}" ->
              named(answering(operation("models", "Describe a model"), ANY_JSON));
          case "DELETE /models/{name}" ->
              named(
                  fails(
                      answering(operation("models", "Unload a model"), ANY_JSON),
                      ErrorType.DEADLINE_EXCEEDED,
                      ErrorType.INTERNAL));
          case "GET /v2" -> protocol("What this server is and speaks");
          case "GET /v2/health/live" -> protocol("Whether the server is up");
          case "GET /v2/health/ready" -> protocol("Whether the server can answer");
          case "GET /v2/models/{name}" ->
              inPath(protocol("The inputs and outputs of a model"), "name");
          case "GET /v2/models/{name}/ready" ->
              inPath(protocol("Whether a model can answer"), "name");
          case "POST /v2/models/{name}/infer" -> inPath(infer(), "name");
          case "GET /v1/models/{name}" ->
              inPath(models("The model, for clients of OpenAI and of KServe's version 1"), "name");
          case "POST /v1/models/{name}:predict" -> inPath(predict(), "name");
          case "GET /v2/models/{name}/versions/{version}" ->
              version(protocol("The inputs and outputs of a version"));
          case "GET /v2/models/{name}/versions/{version}/ready" ->
              version(protocol("Whether a version can answer"));
          case "POST /v2/models/{name}/versions/{version}/infer" -> version(infer());
          case "GET /" -> answering(operation("page", "The page to try the model"), "text/html");
          case "GET /docs" ->
              answering(operation("page", "This document in Swagger UI"), "text/html");
          case "GET /openapi.json" -> answering(operation("page", "This document"), ANY_JSON);
          case "GET /page/models" ->
              answering(operation("page", "What the page shows of the models"), ANY_JSON);
          case "GET /page/sample" ->
              query(
                  fails(
                      answering(operation("page", "The sample of an artifact"), "*/*"),
                      ErrorType.NOT_FOUND,
                      ErrorType.PAYLOAD_TOO_LARGE),
                  "model",
                  "string",
                  "the name of one of many models");
          case "GET /page/{file}" ->
              inPath(
                  fails(
                      answering(operation("page", "A file of the page"), "*/*"),
                      ErrorType.NOT_FOUND),
                  "file");
          default -> null;
        });
  }

  /// Why a request fails, for people.
  static String reason(ErrorType type) {
    return switch (type) {
      case BAD_INPUT -> "The payload or a parameter is wrong";
      case NOT_FOUND -> "There is no such path or model";
      case METHOD_NOT_ALLOWED -> "The path has other methods";
      case NOT_ACCEPTABLE -> "The model writes none of the types of Accept";
      case PAYLOAD_TOO_LARGE -> "The payload is too large";
      case UNSUPPORTED_MEDIA_TYPE -> "The model does not read this Content-Type";
      case CONFLICT -> "A model of this name is there, or comes or goes right now";
      case CALLER_GONE -> "The client has gone";
      case INTERNAL -> "A hook or the server failed";
      case NOT_READY -> "The model is loading, stopping or failed";
      case OVERLOADED -> "The queue is full";
      case DEADLINE_EXCEEDED -> "The time of the request ran out";
      case INSUFFICIENT_MEMORY -> "There was no memory for it";
    };
  }

  private ObjectNode ping() {
    var operation = operation("server", "Whether the server can answer");
    operation
        .withObject("responses")
        .putObject("200")
        .put("description", "The model can be asked. The body is empty");
    return fails(operation, ErrorType.NOT_READY);
  }

  /// @param withExamples whether the route takes what the sample is
  private ObjectNode ask(String summary, boolean withExamples) {
    var operation = operation("model", summary);
    operation.put(
        "description",
        ("The types and examples are those of what is loaded. Accept chooses the type of the answer; "
                + "without it, the answer is %s where the model writes that.")
            .formatted(config.http().defaultAccept()));
    header(
        operation,
        "X-Amzn-SageMaker-Custom-Attributes",
        "handed on to the hooks, up to 1024 characters");
    header(
        operation, "X-Amzn-SageMaker-Inference-Id", "stands in the log as the id of the request");
    header(operation, "traceparent", "the trace that the request is a part of (W3C Trace Context)");
    if (any(ServedModel.Facts::sessions)) {
      header(
          operation,
          "X-Amzn-SageMaker-Session-Id",
          "the id of a session, or NEW_SESSION to open one");
    }
    requestBody(operation, withExamples);
    var ok =
        operation
            .withObject("responses")
            .putObject("200")
            .put("description", "The answer of the model");
    var headers = ok.putObject("headers");
    responseHeader(headers, "X-Amzn-SageMaker-Custom-Attributes", "what the hooks send back");
    if (any(ServedModel.Facts::sessions)) {
      responseHeader(
          headers,
          "X-Amzn-SageMaker-New-Session-Id",
          "the id of a session that was opened, and when it ends");
      responseHeader(
          headers, "X-Amzn-SageMaker-Closed-Session-Id", "the id of a session that was closed");
    }
    var content = ok.putObject("content");
    for (var type : types(Catalog.Entry::responseTypes)) {
      examples(
          content.putObject(type.toString()),
          type,
          withExamples ? Operations::response : _ -> Optional.empty());
    }
    return fails(
        operation,
        ErrorType.BAD_INPUT,
        ErrorType.NOT_ACCEPTABLE,
        ErrorType.PAYLOAD_TOO_LARGE,
        ErrorType.UNSUPPORTED_MEDIA_TYPE,
        ErrorType.INTERNAL,
        ErrorType.OVERLOADED,
        ErrorType.DEADLINE_EXCEEDED,
        ErrorType.INSUFFICIENT_MEMORY);
  }

  private void requestBody(ObjectNode operation, boolean withExamples) {
    var body = operation.putObject("requestBody").put("required", true);
    if (config.http().maxPayloadBytes() < Long.MAX_VALUE) {
      body.put("description", "At most %d bytes".formatted(config.http().maxPayloadBytes()));
    }
    var content = body.putObject("content");
    for (var type : types(Catalog.Entry::requestTypes)) {
      examples(
          content.putObject(type.toString()),
          type,
          withExamples ? entry -> request(entry, type) : _ -> Optional.empty());
    }
  }

  private boolean any(Predicate<ServedModel.Facts> has) {
    return catalog.list().stream().anyMatch(entry -> entry.facts().filter(has).isPresent());
  }

  /// Of all models together.
  private List<MediaType> types(Function<Catalog.Entry, List<MediaType>> ofOne) {
    var types =
        catalog.list().stream().flatMap(entry -> ofOne.apply(entry).stream()).distinct().toList();
    return types.isEmpty() ? List.of(MediaType.ANY) : types;
  }

  /// The schema of a type, and an example of each model that has one.
  private void examples(
      ObjectNode content, MediaType type, Function<Catalog.Entry, Optional<JsonNode>> example) {
    var schema = content.putObject("schema");
    if (type.type().equals("image") || type.equals(MediaType.BYTES)) {
      schema.put("type", "string").put("format", "binary");
    }
    if (!isText(type)) {
      return;
    }
    catalog
        .list()
        .forEach(
            entry ->
                example
                    .apply(entry)
                    .map(
                        value ->
                            type.equals(MediaType.JSON)
                                ? value
                                : TextNode.valueOf(value.toString()))
                    .ifPresent(
                        value ->
                            content
                                .withObject("examples")
                                .putObject(key(entry.name()))
                                .put("summary", entry.name())
                                .set("value", value)));
  }

  /// OpenAPI allows letters, digits and `._-` in such a key.
  private static String key(String name) {
    return name.replaceAll("[^A-Za-z0-9._-]", "-");
  }

  private static boolean isText(MediaType type) {
    return type.equals(MediaType.JSON) || type.equals(MediaType.JSON_LINES);
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
      log.debug("{} is no example, because it can't be read", file, e);
      return Optional.empty();
    }
  }

  private ObjectNode socket() {
    var operation =
        operation(
            "model", "A WebSocket: each message is a request, each part of an answer a frame");
    var responses = operation.withObject("responses");
    responses.putObject("101").put("description", "The socket is open");
    return fails(operation, ErrorType.BAD_INPUT, ErrorType.NOT_READY);
  }

  private ObjectNode models(String summary) {
    return fails(answering(operation("model", summary), ANY_JSON), ErrorType.NOT_FOUND);
  }

  /// Of the Open Inference Protocol, whose errors have a form of their own.
  private static ObjectNode protocol(String summary) {
    var operation = answering(operation("protocol", summary), ANY_JSON);
    operation
        .withObject("responses")
        .putObject("default")
        .put("description", "{\"error\": …}: what was found, and what was expected");
    return operation;
  }

  private static ObjectNode infer() {
    var operation = protocol("Ask a model with tensors");
    operation
        .putObject("requestBody")
        .put("required", true)
        .put(
            "description",
            "{\"inputs\": [{\"name\": …, \"shape\": …, \"datatype\": …, \"data\": …}]}, with binary data behind it where "
                + "Inference-Header-Content-Length says how long it is")
        .putObject("content")
        .putObject(ANY_JSON)
        .putObject("schema")
        .put("type", "object");
    return operation;
  }

  private static ObjectNode version(ObjectNode operation) {
    return inPath(inPath(operation, "name"), "version");
  }

  /// Of Vertex AI.
  private static ObjectNode predict() {
    var operation =
        answering(
            operation("model", "Ask the model as Vertex AI does: {\"predictions\": …}"), ANY_JSON);
    operation
        .putObject("requestBody")
        .put("required", true)
        .putObject("content")
        .putObject(ANY_JSON)
        .putObject("schema")
        .put("type", "object")
        .putArray("required")
        .add("instances");
    operation
        .withObject("responses")
        .putObject("default")
        .put("description", "{\"error\": …}: what was found, and what was expected");
    return operation;
  }

  private ObjectNode listing() {
    var operation = answering(operation("models", "List the models"), ANY_JSON);
    query(operation, "limit", "integer", "how many at most, up to 100");
    return fails(
        query(operation, "next_page_token", "string", "nextPageToken of the page before"),
        ErrorType.BAD_INPUT);
  }

  private ObjectNode loading() {
    var operation = operation("models", "Load a model");
    var schema =
        operation
            .putObject("requestBody")
            .put("required", true)
            .putObject("content")
            .putObject(ANY_JSON)
            .putObject("schema");
    schema.put("type", "object").putArray("required").add("model_name").add("url");
    schema
        .putObject("properties")
        .putObject("model_name")
        .put("type", "string")
        .put("maxLength", 256);
    schema
        .withObject("properties")
        .putObject("url")
        .put("type", "string")
        .put("description", "the directory of its artifact");
    return fails(
        answering(operation, ANY_JSON),
        ErrorType.BAD_INPUT,
        ErrorType.NOT_FOUND,
        ErrorType.CONFLICT,
        ErrorType.UNSUPPORTED_MEDIA_TYPE,
        ErrorType.INTERNAL,
        ErrorType.NOT_READY,
        ErrorType.DEADLINE_EXCEEDED,
        ErrorType.INSUFFICIENT_MEMORY);
  }

  private static ObjectNode operation(String tag, String summary) {
    var operation = NODES.objectNode().put("summary", summary);
    operation.putArray("tags").add(tag);
    operation.putObject("responses");
    return operation;
  }

  private static ObjectNode answering(ObjectNode operation, String type) {
    operation
        .withObject("responses")
        .putObject("200")
        .put("description", "OK")
        .putObject("content")
        .putObject(type)
        .putObject("schema");
    return operation;
  }

  private ObjectNode fails(ObjectNode operation, ErrorType... types) {
    for (var type : types) {
      var error = errors.apply(type);
      operation.withObject("responses").set(error.getKey(), error.getValue());
    }
    return operation;
  }

  private ObjectNode named(ObjectNode operation) {
    return fails(inPath(operation, "name"), ErrorType.NOT_FOUND);
  }

  private static ObjectNode inPath(ObjectNode operation, String name) {
    parameter(operation, "path", name, "string").put("required", true);
    return operation;
  }

  private static ObjectNode query(
      ObjectNode operation, String name, String type, String description) {
    parameter(operation, "query", name, type).put("description", description);
    return operation;
  }

  private static void header(ObjectNode operation, String name, String description) {
    parameter(operation, "header", name, "string").put("description", description);
  }

  private static ObjectNode parameter(
      ObjectNode operation, String place, String name, String type) {
    var parameter =
        operation.withArray("parameters").addObject().put("name", name).put("in", place);
    parameter.putObject("schema").put("type", type);
    return parameter;
  }

  private static void responseHeader(ObjectNode headers, String name, String description) {
    headers
        .putObject(name)
        .put("description", description)
        .putObject("schema")
        .put("type", "string");
  }
}
