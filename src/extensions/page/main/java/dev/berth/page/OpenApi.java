package dev.berth.page;

import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.berth.error.ErrorType;
import dev.berth.http.Described;
import dev.berth.http.ErrorForm;
import dev.berth.http.Operation;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.function.Supplier;

/// The OpenAPI 3.1 document of the routes that this server has, with the types and samples of the
/// models that it has loaded at the moment.
final class OpenApi {

    private static final JsonNodeFactory NODES = JsonNodeFactory.instance;

    private OpenApi() {}

    /// @param url where clients find the server
    /// @param begun begins what is said of a route
    static ObjectNode describe(String url, List<? extends Described> routes, Supplier<DocumentedRoute> begun) {
        var document = NODES.objectNode().put("openapi", "3.1.0");
        document.putObject("info")
                .put("title", "Berth")
                .put(
                        "version",
                        Optional.ofNullable(OpenApi.class.getPackage().getImplementationVersion())
                                .orElse("unpackaged"))
                .put(
                        "description",
                        "SageMaker's contract for model containers, as this server has it with its model. Each answer has the header x-amzn-RequestId. The log has the same id.");
        document.putArray("servers").addObject().put("url", url);
        var tags = document.putArray("tags");
        Arrays.stream(Operation.Group.values())
                .forEach(group -> tags.addObject().put("name", group.tag()));
        var paths = document.putObject("paths");
        routes.stream()
                .sorted(Comparator.comparing(Described::path)
                        .thenComparing(route -> route.method().name()))
                .forEach(route -> {
                    var said = begun.get();
                    route.says().apply(said);
                    if (said.isShown()) {
                        var method = route.method().name().toLowerCase(Locale.ROOT);
                        paths.withObjectProperty(route.path()).set(method, said.at(method, route.path()));
                    }
                });
        schemas(document.putObject("components").putObject("schemas"));
        return document;
    }

    private static void schemas(ObjectNode schemas) {
        var error =
                schemas.putObject(DocumentedRoute.ERRORS.get(ErrorForm.PLAIN)).put("type", "object");
        error.putArray("required").add("message").add("type").add("code");
        var fields = error.putObject("properties");
        fields.putObject("message").put("type", "string").put("description", "what was found, and what was expected");
        var type = fields.putObject("type").put("type", "string").putArray("enum");
        Arrays.stream(ErrorType.values()).map(OpenApi::word).distinct().forEach(type::add);
        type.add("bad_request");
        fields.putObject("code").put("type", "integer").put("description", "the HTTP status");
        inside(schemas.putObject(DocumentedRoute.ERRORS.get(ErrorForm.NESTED)))
                .put("$ref", DocumentedRoute.reference(ErrorForm.PLAIN));
        inside(schemas.putObject(DocumentedRoute.ERRORS.get(ErrorForm.TEXT))).put("type", "string");
    }

    private static ObjectNode inside(ObjectNode schema) {
        schema.put("type", "object").putArray("required").add("error");
        return schema.putObject("properties").putObject("error");
    }

    private static String word(ErrorType type) {
        return type.code().toLowerCase(Locale.ROOT);
    }
}
