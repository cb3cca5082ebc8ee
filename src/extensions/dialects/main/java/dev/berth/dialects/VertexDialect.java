package dev.berth.dialects;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.berth.content.Excerpt;
import dev.berth.content.Fields;
import dev.berth.content.Json;
import dev.berth.hooks.InvocationRequest;
import dev.berth.hooks.InvocationResponse;
import dev.berth.hooks.MediaType;
import dev.berth.memory.RequestMemory;
import dev.berth.serving.Dialect;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
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
final class VertexDialect implements Dialect {

    /// What the lines cost in memory for each of their characters: a text and its bytes.
    private static final long CHARACTER = 3;

    private static final Pattern LINE = Pattern.compile("^line (\\d{1,9})\\b");

    private VertexDialect() {}

    /// The one of hooks that read and write these types; none: any.
    static Dialect of(List<MediaType> readable, List<MediaType> writable) {
        boolean inLines = readable.contains(MediaType.JSON_LINES) && writable.contains(MediaType.JSON_LINES);
        return inLines ? new VertexDialect() : Dialect.NONE;
    }

    /// A message about a line, for those who have sent instances.
    static String named(String message) {
        var line = LINE.matcher(message);
        return line.find()
                ? line.replaceFirst(
                        Matcher.quoteReplacement("instances[%d]".formatted(Integer.parseInt(line.group(1)) - 1)))
                : message;
    }

    @Override
    public InvocationRequest request(InvocationRequest asked) throws IOException {
        var lines = written(Json.read(asked)).getBytes(StandardCharsets.UTF_8);
        return asked.withBody(new ByteArrayInputStream(lines)).withTypes(MediaType.JSON_LINES, MediaType.JSON_LINES);
    }

    @Override
    public InvocationResponse response(InvocationResponse answer) {
        RequestMemory.charge(CHARACTER * answer.body().length);
        // In a text of JSON a line break is an escape.
        var values = new String(answer.body(), StandardCharsets.UTF_8).strip().replace('\n', ',');
        var list = "{\"predictions\":[%s]}".formatted(values).getBytes(StandardCharsets.UTF_8);
        return new InvocationResponse(list, MediaType.JSON, answer.customAttributes());
    }

    private static String written(JsonNode body) {
        var parameters = body.path("parameters");
        if (!parameters.isObject() && !parameters.isNull() && !parameters.isMissingNode()) {
            throw Excerpt.bad("parameters", parameters, "an object");
        }
        var lines = Fields.elements(
                body.path("instances"),
                "instances",
                "a list of at least one",
                (instance, _) -> Json.write(with(parameters, instance)));
        var text = String.join("\n", lines);
        RequestMemory.charge(CHARACTER * text.length());
        return text;
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
