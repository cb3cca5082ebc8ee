package dev.berth.page;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import com.fasterxml.jackson.databind.node.TextNode;
import dev.berth.command.SampleRequest;
import dev.berth.config.ServerConfig;
import dev.berth.error.ErrorType;
import dev.berth.hooks.MediaType;
import dev.berth.http.ErrorForm;
import dev.berth.http.Operation;
import dev.berth.json.JsonText;
import dev.berth.serving.ModelFacts;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.function.BiFunction;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// What the document says of one route, while it is put together. What depends on the models is that
/// of the moment.
final class DocumentedRoute implements Operation {

    private static final String JSON = "application/json";

    /// The forms of errors, by the names of their schemas.
    private static final Map<ErrorForm, String> ERRORS =
            Map.of(ErrorForm.PLAIN, "Error", ErrorForm.NESTED, "NestedError", ErrorForm.TEXT, "TextError");

    private static final Logger log = LoggerFactory.getLogger(DocumentedRoute.class);

    private static final Pattern PARAMETER = Pattern.compile("\\{([a-z]+)}");
    private static final int LARGEST_EXAMPLE = 64 << 10;

    private final ServerConfig config;
    private final Catalog catalog;
    private final ObjectNode node = JsonNodeFactory.instance.objectNode();
    private ErrorForm errors = ErrorForm.PLAIN;

    DocumentedRoute(ServerConfig config, Catalog catalog) {
        this.config = config;
        this.catalog = catalog;
    }

    @Override
    public DocumentedRoute of(Group group, String summary, ErrorForm form) {
        errors = form;
        node.put("summary", summary);
        node.putArray("tags").add(group.tag());
        return this;
    }

    boolean isShown() {
        return node.has("summary");
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
                    .put("$ref", "#/components/schemas/" + ERRORS.get(errors));
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

    @Override
    public Operation ask(String summary) {
        of(Group.MODEL, summary, ErrorForm.PLAIN)
                .says(("The types and examples are those of what is loaded. Accept chooses the type of the answer; "
                                + "without it, the answer is %s where the model writes that.")
                        .formatted(config.http().defaultAccept()))
                .header("X-Amzn-SageMaker-Custom-Attributes", "handed on to the hooks, up to 1024 characters")
                .header("X-Amzn-SageMaker-Inference-Id", "stands in the log as the id of the request")
                .header("traceparent", "the trace that the request is a part of (W3C Trace Context)");
        var ok = response(200, "The answer of the model");
        header(ok, "X-Amzn-SageMaker-Custom-Attributes", "what the hooks send back", "string");
        if (any(ModelFacts::sessions)) {
            header("X-Amzn-SageMaker-Session-Id", "the id of a session, or NEW_SESSION to open one");
            header(
                    ok,
                    "X-Amzn-SageMaker-New-Session-Id",
                    "the id of a session that was opened, and when it ends",
                    "string");
            header(ok, "X-Amzn-SageMaker-Closed-Session-Id", "the id of a session that was closed", "string");
        }
        types(takes(), "ModelRequest", Catalog.Entry::takes, DocumentedRoute::request);
        types(ok.putObject("content"), "ModelAnswer", Catalog.Entry::gives, (entry, _) -> response(entry));
        return failsAsking();
    }

    @Override
    public boolean any(Predicate<ModelFacts> has) {
        return catalog.list().stream()
                .anyMatch(entry -> entry.facts().filter(has).isPresent());
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
        var types = models.stream()
                .flatMap(model -> ofOne.apply(model).stream())
                .distinct()
                .toList();
        for (var type : types.isEmpty() ? List.of(MediaType.ANY) : types) {
            boolean isJson = type.equals(MediaType.JSON);
            var described = content.putObject(type.toString());
            described.set("schema", Schemas.of(type));
            if (!isJson && !type.equals(MediaType.JSON_LINES)) {
                continue;
            }
            for (var model : models) {
                example.apply(model, type).ifPresent(value -> {
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
        return entry.sample()
                .filter(sample ->
                        sample.types().contains(MediaType.JSON) && (readable.isEmpty() || readable.contains(type)))
                .flatMap(sample -> read(sample.file()));
    }

    private static Optional<JsonNode> response(Catalog.Entry entry) {
        return entry.sample().flatMap(SampleRequest::response).flatMap(DocumentedRoute::read);
    }

    private static Optional<JsonNode> read(Path file) {
        try {
            return Files.size(file) > LARGEST_EXAMPLE ? Optional.empty() : Optional.of(JsonText.read(file));
        } catch (IOException e) {
            log.debug("{} is no example", file, e);
            return Optional.empty();
        }
    }
}
