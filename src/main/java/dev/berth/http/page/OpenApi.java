package dev.berth.http.page;

import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.berth.config.ServerConfig;
import dev.berth.error.ErrorType;
import java.util.Arrays;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.function.Supplier;
import java.util.function.ToIntFunction;
import java.util.stream.Collectors;

/// The OpenAPI 3.1 document of the routes that this server has, with the types and samples of the
/// models that it has loaded at the moment. [Operations] has what is said of each route.
final class OpenApi {

  private static final JsonNodeFactory NODES = JsonNodeFactory.instance;

  private final ServerConfig config;
  private final Catalog catalog;
  private final Supplier<Map<String, String>> routes;
  private final ToIntFunction<ErrorType> status;

  /// @param routes the path and the methods of each
  OpenApi(
      ServerConfig config,
      Catalog catalog,
      Supplier<Map<String, String>> routes,
      ToIntFunction<ErrorType> status) {
    this.config = config;
    this.catalog = catalog;
    this.routes = routes;
    this.status = status;
  }

  ObjectNode describe() {
    var document = NODES.objectNode().put("openapi", "3.1.0");
    document
        .putObject("info")
        .put("title", "Berth")
        .put(
            "version",
            Optional.ofNullable(OpenApi.class.getPackage().getImplementationVersion())
                .orElse("unpackaged"))
        .put(
            "description",
            "SageMaker's contract for model containers, as this server has it with its model. Each answer has the "
                + "header x-amzn-RequestId. The log has the same id.");
    document.putArray("servers").addObject().put("url", ".");
    var tags = document.putArray("tags");
    Operations.TAGS.forEach(tag -> tags.addObject().put("name", tag));
    var paths = document.putObject("paths");
    var operations = new Operations(config, catalog, this::error);
    new TreeMap<>(routes.get()).forEach(
        (path, methods) -> {
          for (var method : methods.split(", ")) {
            operations
                .describe(method, path)
                .ifPresent(
                    operation -> {
                      var item =
                          paths.path(path) instanceof ObjectNode known
                              ? known
                              : paths.putObject(path);
                      item.set(method.toLowerCase(Locale.ROOT), operation);
                    });
          }
        });
    var components = document.putObject("components");
    schemas(components.putObject("schemas"));
    responses(components.putObject("responses"));
    return document;
  }

  /// The status of an error, and a reference to its response.
  private Map.Entry<String, ObjectNode> error(ErrorType type) {
    int code = status.applyAsInt(type);
    return Map.entry(
        String.valueOf(code), NODES.objectNode().put("$ref", "#/components/responses/" + code));
  }

  private static void schemas(ObjectNode schemas) {
    var error = schemas.putObject("Error").put("type", "object");
    error.putArray("required").add("message").add("type").add("code");
    var fields = error.putObject("properties");
    fields
        .putObject("message")
        .put("type", "string")
        .put("description", "what was found, and what was expected");
    var type = fields.putObject("type").put("type", "string").putArray("enum");
    Arrays.stream(ErrorType.values()).map(OpenApi::word).forEach(type::add);
    type.add("bad_request");
    fields.putObject("code").put("type", "integer").put("description", "the HTTP status");
  }

  /// One for each status, because two errors may have the same.
  private void responses(ObjectNode responses) {
    var byStatus =
        Arrays.stream(ErrorType.values())
            .collect(Collectors.groupingBy(status::applyAsInt, TreeMap::new, Collectors.toList()));
    byStatus.forEach(
        (code, types) -> {
          var response =
              responses
                  .putObject(String.valueOf(code))
                  .put(
                      "description",
                      types.stream().map(Operations::reason).collect(Collectors.joining("; ")));
          if (types.contains(ErrorType.OVERLOADED)) {
            response
                .putObject("headers")
                .putObject("Retry-After")
                .put("description", "seconds")
                .putObject("schema")
                .put("type", "integer");
          }
          response
              .putObject("content")
              .putObject("application/json")
              .putObject("schema")
              .put("$ref", "#/components/schemas/Error");
        });
  }

  private static String word(ErrorType type) {
    return type.name().toLowerCase(Locale.ROOT);
  }
}
