package dev.berth.dialects;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import com.fasterxml.jackson.databind.util.RawValue;
import dev.berth.config.ServerConfig;
import dev.berth.content.Fields;
import dev.berth.content.Json;
import dev.berth.dialects.JsonDialect.Answer;
import dev.berth.dialects.JsonDialect.Asked;
import dev.berth.hooks.MediaType;
import dev.berth.http.ErrorForm;
import dev.berth.http.Protocol;
import dev.berth.http.Route;
import dev.berth.http.ServerParts;
import dev.berth.serving.Dialect;
import io.javalin.http.Handler;
import java.util.List;
import java.util.Optional;
import java.util.regex.Pattern;

/// Vertex AI's protocol, which is KServe's version 1 under another path. An instance is what a line
/// of JSON Lines is. Google's own errors stand inside an `error` too.
///
/// ```
/// {"instances": [A, B]}                       A         answered by {"predictions": [a, b]}
///                                             B
/// {"instances": [A, B], "parameters": P}      {"inputs": A, "parameters": P}
///                                             {"inputs": B, "parameters": P}
/// ```
///
/// Hooks of an artifact that do not read and write JSON Lines get the body as it is, and answer it
/// themselves.
public final class VertexAndKserve implements Protocol {

    private static final String MODELS = "/v1/models";
    private static final String PREDICT = MODELS + "/{name}:predict";

    private static final Pattern LINE = Pattern.compile("^line (\\d{1,9})\\b");

    @Override
    public List<Route> routes() {
        return List.of(Route.post(PREDICT, VertexAndKserve::predict));
    }

    @Override
    public List<Route> named(ServerConfig config) {
        return config.find(DialectsConfig.PREDICT_ROUTE).stream()
                .map(path ->
                        Route.post(path, VertexAndKserve::predict).as(PREDICT).ofOne())
                .toList();
    }

    @Override
    public Optional<ErrorForm> errors(String path, ServerConfig config) {
        return path.startsWith(MODELS + "/")
                        || config.find(DialectsConfig.PREDICT_ROUTE).equals(Optional.of(path))
                ? Optional.of(ErrorForm.NESTED)
                : Optional.empty();
    }

    private static Handler predict(ServerParts parts) {
        var invocations = parts.invocations();
        return ctx -> invocations.ask(ctx, asked -> {
            var facts = asked.visit().facts();
            boolean inLines = facts.requestTypes().contains(MediaType.JSON_LINES)
                    && facts.responseTypes().contains(MediaType.JSON_LINES);
            asked.answer(
                    inLines ? new JsonDialect(MediaType.JSON_LINES, VertexAndKserve::lines) : Dialect.NONE,
                    VertexAndKserve::named);
        });
    }

    /// A message about a line, for those who have sent instances.
    private static String named(String message) {
        return LINE.matcher(message)
                .replaceFirst(line -> "instances[%d]".formatted(Integer.parseInt(line.group(1)) - 1));
    }

    private static Asked lines(JsonNode body) {
        var parameters = Fields.any(body, "body").object("parameters");
        var lines = Fields.elements(
                body.path("instances"),
                "instances",
                "a list of at least one",
                (instance, _) -> Json.write(with(parameters, instance)));
        return new Asked(new RawValue(String.join("\n", lines)), VertexAndKserve::predictions);
    }

    private static RawValue predictions(Answer answer) {
        // In a text of JSON a line break is an escape.
        return new RawValue(
                "{\"predictions\":[%s]}".formatted(answer.text().strip().replace('\n', ',')));
    }

    /// An instance with the parameters of all, unless it has its own.
    private static JsonNode with(ObjectNode parameters, JsonNode instance) {
        if (parameters.isEmpty() || instance.hasNonNull("parameters")) {
            return instance;
        }
        // Not in place: messages may still show the instance.
        ObjectNode whole = instance.has("inputs")
                ? instance.deepCopy()
                : JsonNodeFactory.instance.objectNode().set("inputs", instance);
        return whole.set("parameters", parameters);
    }
}
