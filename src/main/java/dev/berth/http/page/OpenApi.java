package dev.berth.http.page;

import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.berth.config.ServerConfig;
import dev.berth.error.ErrorType;
import java.util.Arrays;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.SortedSet;
import java.util.function.ToIntFunction;

/// The OpenAPI 3.1 document of the routes that this server has, with the types and samples of the
/// models that it has loaded at the moment. [Operations] has what is said of each route.
final class OpenApi {

  private static final JsonNodeFactory NODES = JsonNodeFactory.instance;

  private final ServerConfig config;
  private final Catalog catalog;
  private final Map<String, SortedSet<String>> routes;
  private final ToIntFunction<ErrorType> status;

  /// @param routes the path and the methods of each
  OpenApi(
      ServerConfig config,
      Catalog catalog,
      Map<String, SortedSet<String>> routes,
      ToIntFunction<ErrorType> status) {
    this.config = config;
    this.catalog = catalog;
    this.routes = routes;
    this.status = status;
  }

  /// @param url where clients find the server
  ObjectNode describe(String url) {
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
    document.putArray("servers").addObject().put("url", url);
    var tags = document.putArray("tags");
    Operations.TAGS.forEach(tag -> tags.addObject().put("name", tag));
    var paths = document.putObject("paths");
    var operations = new Operations(config, catalog, status);
    routes.forEach(
        (path, methods) -> {
          for (var method : methods) {
            operations
                .describe(method, path)
                .ifPresent(
                    operation ->
                        paths
                            .withObjectProperty(path)
                            .set(method.toLowerCase(Locale.ROOT), operation));
          }
        });
    schemas(document.putObject("components").putObject("schemas"));
    return document;
  }

  private static void schemas(ObjectNode schemas) {
    var error = schemas.putObject(Operation.ERROR).put("type", "object");
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
    inside(schemas.putObject(Operation.NESTED_ERROR))
        .put("$ref", "#/components/schemas/" + Operation.ERROR);
    inside(schemas.putObject(Operation.TEXT_ERROR)).put("type", "string");
  }

  private static ObjectNode inside(ObjectNode schema) {
    schema.put("type", "object").putArray("required").add("error");
    return schema.putObject("properties").putObject("error");
  }

  private static String word(ErrorType type) {
    return type.name().toLowerCase(Locale.ROOT);
  }
}
