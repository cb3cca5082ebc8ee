package dev.berth.page;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.berth.error.ErrorType;
import dev.berth.http.ErrorForm;
import dev.berth.http.JsonErrorForm;
import dev.berth.http.Operation;
import dev.berth.http.Operations;
import java.util.Arrays;
import java.util.Locale;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/// What the document says of one route, while it is put together.
final class DocumentedRoute implements Operation {

    static final String JSON = "application/json";

    // The forms of errors, by the names of their schemas.
    static final String ERROR = "Error";
    static final String NESTED_ERROR = "NestedError";
    static final String TEXT_ERROR = "TextError";

    private static final Pattern PARAMETER = Pattern.compile("\\{([a-z]+)}");

    private final ObjectNode node = JsonNodeFactory.instance.objectNode();
    private final String errors;

    DocumentedRoute(Operations.Group group, String summary, ErrorForm errors) {
        this.errors = errors.equals(JsonErrorForm.NESTED)
                ? NESTED_ERROR
                : errors.equals(JsonErrorForm.TEXT) ? TEXT_ERROR : ERROR;
        node.put("summary", summary);
        node.putArray("tags").add(group.tag());
    }

    @Override
    public DocumentedRoute says(String description) {
        node.put("description", description);
        return this;
    }

    /// @return the content types of the request, to be filled
    ObjectNode takes() {
        return node.withObjectProperty("requestBody").put("required", true).putObject("content");
    }

    @Override
    public DocumentedRoute takes(String example) {
        takes().putObject(JSON).set("schema", Schemas.like(example));
        return this;
    }

    @Override
    public DocumentedRoute answers(String example) {
        return answers(JSON, Schemas.like(example));
    }

    @Override
    public DocumentedRoute answersIn(String type) {
        return answers(type, type.startsWith("text/") ? Schemas.text() : Schemas.any());
    }

    private DocumentedRoute answers(String type, JsonNode schema) {
        response(200, "OK").withObjectProperty("content").putObject(type).set("schema", schema);
        return this;
    }

    ObjectNode response(int code, String description) {
        return node.withObjectProperty("responses")
                .withObjectProperty(String.valueOf(code))
                .put("description", description);
    }

    @Override
    public DocumentedRoute responds(int code, String description) {
        response(code, description);
        return this;
    }

    @Override
    public DocumentedRoute failsInWork() {
        return fails(
                ErrorType.BAD_INPUT,
                ErrorType.PAYLOAD_TOO_LARGE,
                ErrorType.UNSUPPORTED_MEDIA_TYPE,
                ErrorType.INTERNAL,
                ErrorType.NOT_READY,
                ErrorType.DEADLINE_EXCEEDED,
                ErrorType.INSUFFICIENT_MEMORY);
    }

    @Override
    public DocumentedRoute fails(ErrorType... types) {
        for (var type : types) {
            var code = type.status();
            var known = node.at("/responses/%d/description".formatted(code)).asText();
            var reason = type.meaning();
            var response = response(
                    code, known.isEmpty() || known.equals(reason) ? reason : "%s; %s".formatted(known, reason));
            if (type.isRefusal()) {
                header(response, "Retry-After", "seconds", "integer");
            }
            response.withObjectProperty("content")
                    .withObjectProperty(JSON)
                    .withObjectProperty("schema")
                    .put("$ref", "#/components/schemas/" + errors);
        }
        return this;
    }

    static void header(ObjectNode response, String name, String description, String type) {
        response.withObjectProperty("headers")
                .putObject(name)
                .put("description", description)
                .putObject("schema")
                .put("type", type);
    }

    ObjectNode parameter(String place, String name, String type) {
        var parameter = node.withArrayProperty("parameters").addObject();
        parameter.put("name", name).put("in", place).putObject("schema").put("type", type);
        return parameter;
    }

    @Override
    public DocumentedRoute query(String name, String type, String description) {
        parameter("query", name, type).put("description", description);
        return this;
    }

    DocumentedRoute header(String name, String description) {
        parameter("header", name, "string").put("description", description);
        return this;
    }

    /// The whole: with the parameters of the path, and what generators call the method of a client,
    /// such as `postModelsNameInvoke`.
    ObjectNode at(String method, String path) {
        PARAMETER.matcher(path).results().forEach(found -> {
            parameter("path", found.group(1), "string").put("required", true);
            fails(ErrorType.BAD_INPUT, ErrorType.NOT_FOUND);
        });
        return node.put(
                "operationId",
                method
                        + Arrays.stream(path.split("[^A-Za-z0-9]+"))
                                .filter(word -> !word.isEmpty())
                                .map(word -> word.substring(0, 1).toUpperCase(Locale.ROOT) + word.substring(1))
                                .collect(Collectors.joining()));
    }
}
