package dev.berth.dialects;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import com.fasterxml.jackson.databind.util.RawValue;
import dev.berth.content.Excerpt;
import dev.berth.content.Fields;
import dev.berth.content.Json;
import dev.berth.dialects.JsonDialect.Answer;
import dev.berth.dialects.JsonDialect.Asked;
import dev.berth.hooks.MediaType;
import dev.berth.serving.Dialect;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/// What callers of Vertex AI speak: an instance is what a line of JSON Lines is.
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
final class VertexDialect {

    private static final Pattern LINE = Pattern.compile("^line (\\d{1,9})\\b");

    private VertexDialect() {}

    /// The one of hooks that read and write these types; none: any.
    static Dialect of(List<MediaType> readable, List<MediaType> writable) {
        boolean inLines = readable.contains(MediaType.JSON_LINES) && writable.contains(MediaType.JSON_LINES);
        return inLines ? new JsonDialect(MediaType.JSON_LINES, VertexDialect::lines) : Dialect.NONE;
    }

    /// A message about a line, for those who have sent instances.
    static String named(String message) {
        var line = LINE.matcher(message);
        return line.find()
                ? line.replaceFirst(
                        Matcher.quoteReplacement("instances[%d]".formatted(Integer.parseInt(line.group(1)) - 1)))
                : message;
    }

    private static Asked lines(JsonNode body) {
        var parameters = body.path("parameters");
        if (!parameters.isObject() && !parameters.isNull() && !parameters.isMissingNode()) {
            throw Excerpt.bad("parameters", parameters, "an object");
        }
        var lines = Fields.elements(
                body.path("instances"),
                "instances",
                "a list of at least one",
                (instance, _) -> Json.write(with(parameters, instance)));
        return new Asked(new RawValue(String.join("\n", lines)), VertexDialect::predictions);
    }

    private static RawValue predictions(Answer answer) {
        // In a text of JSON a line break is an escape.
        return new RawValue(
                "{\"predictions\":[%s]}".formatted(answer.text().strip().replace('\n', ',')));
    }

    /// An instance with the parameters of all. Those of its own win.
    private static JsonNode with(JsonNode parameters, JsonNode instance) {
        var own = instance.path("parameters");
        // Those that are no object are the handler's to refuse.
        if (parameters.isEmpty() || (!own.isObject() && !own.isNull() && !own.isMissingNode())) {
            return instance;
        }
        if (instance instanceof ObjectNode object && (object.has("inputs") || own.isObject())) {
            ObjectNode both = parameters.deepCopy();
            if (own instanceof ObjectNode its) {
                both.setAll(its);
            }
            // Not in place: messages may still show the instance.
            return object.deepCopy().set("parameters", both);
        }
        return JsonNodeFactory.instance
                .objectNode()
                .<ObjectNode>set("inputs", instance)
                .set("parameters", parameters);
    }
}
