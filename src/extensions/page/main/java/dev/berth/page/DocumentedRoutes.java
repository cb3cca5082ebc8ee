package dev.berth.page;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import com.fasterxml.jackson.databind.node.TextNode;
import dev.berth.config.ServerConfig;
import dev.berth.hooks.MediaType;
import dev.berth.http.ErrorForm;
import dev.berth.http.Operation;
import dev.berth.http.Operations;
import dev.berth.http.SampleFile;
import dev.berth.json.JsonText;
import dev.berth.serving.ModelFacts;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.function.BiFunction;
import java.util.function.Function;
import java.util.function.Predicate;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// What OpenAPI's document says of routes that share it, or that depend on the models.
final class DocumentedRoutes implements Operations {

    private static final Logger log = LoggerFactory.getLogger(DocumentedRoutes.class);

    private static final int LARGEST_EXAMPLE = 64 << 10;

    private final ServerConfig config;
    private final Catalog catalog;

    DocumentedRoutes(ServerConfig config, Catalog catalog) {
        this.config = config;
        this.catalog = catalog;
    }

    @Override
    public DocumentedRoute of(Group group, String summary, ErrorForm errors) {
        return new DocumentedRoute(group, summary, errors);
    }

    @Override
    public Operation ask(String summary) {
        var operation = of(Group.MODEL, summary, ErrorForm.PLAIN)
                .says(("The types and examples are those of what is loaded. Accept chooses the type of the answer; "
                                + "without it, the answer is %s where the model writes that.")
                        .formatted(config.http().defaultAccept()))
                .header("X-Amzn-SageMaker-Custom-Attributes", "handed on to the hooks, up to 1024 characters")
                .header("X-Amzn-SageMaker-Inference-Id", "stands in the log as the id of the request")
                .header("traceparent", "the trace that the request is a part of (W3C Trace Context)");
        var ok = operation.response(200, "The answer of the model");
        DocumentedRoute.header(ok, "X-Amzn-SageMaker-Custom-Attributes", "what the hooks send back", "string");
        if (any(ModelFacts::sessions)) {
            operation.header("X-Amzn-SageMaker-Session-Id", "the id of a session, or NEW_SESSION to open one");
            DocumentedRoute.header(
                    ok,
                    "X-Amzn-SageMaker-New-Session-Id",
                    "the id of a session that was opened, and when it ends",
                    "string");
            DocumentedRoute.header(
                    ok, "X-Amzn-SageMaker-Closed-Session-Id", "the id of a session that was closed", "string");
        }
        types(operation.takes(), "ModelRequest", Catalog.Entry::takes, DocumentedRoutes::request);
        types(ok.putObject("content"), "ModelAnswer", Catalog.Entry::gives, (entry, _) -> response(entry));
        return operation.failsAsking();
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
        return entry.sample().flatMap(SampleFile::response).flatMap(DocumentedRoutes::read);
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
