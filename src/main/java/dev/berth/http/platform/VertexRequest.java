package dev.berth.http.platform;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.berth.content.Excerpt;
import dev.berth.content.Json;
import dev.berth.hooks.BadInputException;
import dev.berth.hooks.InvocationRequest;
import dev.berth.hooks.MediaType;
import dev.berth.memory.RequestMemory;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/// A body of Vertex AI as lines of JSON: an instance is what a line of JSON Lines is.
///
/// ```
/// {"instances": [A, B]}                       A         answered by {"predictions": [a, b]}
///                                             B
/// {"instances": [A, B], "parameters": P}      {"inputs": A, "parameters": P}
///                                             {"inputs": B, "parameters": P}
/// ```
///
/// Hooks of an artifact that do not read and write JSON Lines get the body as it is, and answer it themselves.
///
/// The body is read by the first read, which is the hook's, on its thread and at the cost of its request.
public final class VertexRequest extends InputStream {

  /// Of an answer in lines.
  public static final byte[] BEFORE = "{\"predictions\":[".getBytes(StandardCharsets.UTF_8);
  public static final byte[] AFTER = "]}".getBytes(StandardCharsets.UTF_8);

  /// What the lines cost in memory for each of their characters: a text and its bytes.
  private static final long CHARACTER = 3;

  private static final Pattern LINE = Pattern.compile("^line (\\d{1,9})\\b");

  private final InvocationRequest request;
  private InputStream lines;

  /// @param request as it came, its body not yet read
  public VertexRequest(InvocationRequest request) {
    this.request = request;
  }

  /// Whether hooks get lines, by the types that they read and write; none: any.
  public static boolean isInLines(List<MediaType> readable, List<MediaType> writable) {
    return readable.contains(MediaType.JSON_LINES) && writable.contains(MediaType.JSON_LINES);
  }

  /// Makes a list of lines, in place.
  ///
  /// @return how many bytes of the body are the list
  public static int listed(byte[] lines) {
    int end = lines.length;
    while (end > 0 && (lines[end - 1] == '\n' || lines[end - 1] == '\r')) {
      end--;
    }
    for (int i = 0; i < end; i++) {
      // In a text of JSON a line break is an escape.
      if (lines[i] == '\n') {
        lines[i] = ',';
      }
    }
    return end;
  }

  /// A message about a line, for those who have sent instances.
  public static String named(String message) {
    var line = LINE.matcher(message);
    return line.find()
        ? line.replaceFirst(Matcher.quoteReplacement("instances[%d]".formatted(Integer.parseInt(line.group(1)) - 1)))
        : message;
  }

  @Override
  public int read() throws IOException {
    return lines().read();
  }

  @Override
  public int read(byte[] bytes, int offset, int length) throws IOException {
    return lines().read(bytes, offset, length);
  }

  @Override
  public byte[] readAllBytes() throws IOException {
    return lines().readAllBytes();
  }

  private InputStream lines() throws IOException {
    if (lines == null) {
      lines = new ByteArrayInputStream(written(Json.read(request)).getBytes(StandardCharsets.UTF_8));
    }
    return lines;
  }

  private static String written(JsonNode body) {
    var instances = body.path("instances");
    if (!instances.isArray() || instances.isEmpty()) {
      throw new BadInputException("instances: found %s, expected a list of at least one"
          .formatted(instances.isArray() ? "an empty list" : Excerpt.of(instances)));
    }
    var parameters = body.path("parameters");
    if (!parameters.isObject() && !parameters.isNull() && !parameters.isMissingNode()) {
      throw new BadInputException("parameters: found %s, expected an object".formatted(Excerpt.of(parameters)));
    }
    var text = instances.valueStream().map(instance -> Json.write(with(parameters, instance))).collect(Collectors.joining("\n"));
    RequestMemory.charge(CHARACTER * text.length());
    return text;
  }

  /// An instance with the parameters of all. Those of its own win.
  private static JsonNode with(JsonNode parameters, JsonNode instance) {
    var own = instance.path("parameters");
    // Those that are no object are the handler's to refuse.
    if (parameters.isEmpty() || !own.isObject() && !own.isNull() && !own.isMissingNode()) {
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
    return JsonNodeFactory.instance.objectNode().<ObjectNode>set("inputs", instance).set("parameters", parameters);
  }
}
