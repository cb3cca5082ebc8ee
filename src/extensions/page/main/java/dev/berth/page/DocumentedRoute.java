package dev.berth.page;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import com.fasterxml.jackson.databind.node.TextNode;
import dev.berth.command.SampleRequest;
import dev.berth.hooks.MediaType;
import dev.berth.json.JsonText;
import dev.berth.serving.ModelFacts;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.function.BiFunction;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// What the document says of one route: what `openapi.json` has for it, in full. That is OpenAPI's own
/// form of an operation, with these words for what is alike everywhere:
///
/// | word | means |
/// |---|---|
/// | `takes` | a body of JSON that has at least what this example has, with whole numbers |
/// | `answers` | the same of answers, by their type; `null` is any |
/// | `streams` | a type of answers where a model that is loaded streams |
/// | `asks` | what `asks.json` has, and the types of the models that are loaded, with their samples |
/// | `errors` | the schema of failures, if it is not `Error` |
///
/// @param said what `openapi.json` has for the route
/// @param asking what `asks.json` has
/// @param node what becomes of it
record DocumentedRoute(JsonNode said, JsonNode asking, MediaType accept, Catalog catalog, ObjectNode node) {

    private static final String JSON = "application/json";

    private static final Logger log = LoggerFactory.getLogger(DocumentedRoute.class);

    private static final Pattern PARAMETER = Pattern.compile("\\{([a-z]+)}");
    private static final int LARGEST_EXAMPLE = 64 << 10;

    private static final List<String> WORDS = List.of("takes", "answers", "streams", "asks", "errors");

    DocumentedRoute(ObjectNode said, JsonNode asking, MediaType accept, Catalog catalog) {
        this(said, asking, accept, catalog, said.deepCopy().remove(WORDS));
    }

    /// @param method in small letters, as OpenAPI has it
    ObjectNode at(String method, String path) {
        if (said.has("takes")) {
            takes().putObject(JSON).set("schema", Schemas.like(said.get("takes"), "integer"));
        }
        said.path("answers")
                .properties()
                .forEach(answer -> answers(answer.getKey(), Schemas.like(answer.getValue(), "integer")));
        if (said.has("streams") && any(ModelFacts::streams)) {
            answers(said.get("streams").asText(), Schemas.text());
        }
        if (said.path("asks").asBoolean()) {
            asks();
        }
        var errors = "#/components/schemas/" + said.path("errors").asText("Error");
        answers("default", "It failed", JSON, Schemas.any().put("$ref", errors));
        PARAMETER.matcher(path).results().forEach(found -> {
            var parameter = node.withArrayProperty("parameters").addObject();
            parameter.put("name", found.group(1)).put("in", "path").put("required", true);
            parameter.putObject("schema").put("type", "string");
        });
        return node.put("operationId", method + operation(path));
    }

    /// What generators call the method of a client, behind that of HTTP: `ModelsNameInvoke`.
    private static String operation(String path) {
        return Arrays.stream(path.split("[^A-Za-z0-9]+"))
                .filter(word -> !word.isEmpty())
                .map(word -> word.substring(0, 1).toUpperCase(Locale.ROOT) + word.substring(1))
                .collect(Collectors.joining());
    }

    /// @return the content types of the request, to be filled
    private ObjectNode takes() {
        return node.withObjectProperty("requestBody").put("required", true).putObject("content");
    }

    private void answers(String type, JsonNode schema) {
        answers("200", "OK", type, schema);
    }

    private void answers(String status, String description, String type, JsonNode schema) {
        node.withObjectProperty("responses")
                .withObjectProperty(status)
                .put("description", description)
                .withObjectProperty("content")
                .putObject(type)
                .set("schema", schema);
    }

    /// Of a route that asks a model in the types that its hooks have.
    private void asks() {
        node.setAll((ObjectNode) asking.get("model").deepCopy());
        node.put("description", node.get("description").asText().formatted(accept));
        var ok = node.withObject("/responses/200");
        if (any(ModelFacts::sessions)) {
            node.withArrayProperty("parameters").addAll((ArrayNode) asking.at("/sessions/parameters"));
            ok.withObjectProperty("headers").setAll((ObjectNode) asking.at("/sessions/headers"));
        }
        types(takes(), "ModelRequest", Catalog.Entry::takes, DocumentedRoute::request);
        types(ok.putObject("content"), "ModelAnswer", Catalog.Entry::gives, (entry, _) -> response(entry));
    }

    private boolean any(Predicate<ModelFacts> has) {
        return catalog.facts().anyMatch(has);
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
