package dev.berth.artifact;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.type.TypeReference;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.MissingNode;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;

/// Reads one `model.json` and collects what is wrong with it and with the files that it names, so that all of it is
/// said at once. Used by one thread, once.
final class ModelArtifactReader {

  private static final int FORMAT = 1;
  private static final List<String> PRECISIONS = List.of("fp32", "fp16", "bf16", "int8");
  private static final ObjectMapper JSON = new ObjectMapper();

  private final Path directory;
  private final List<String> problems = new ArrayList<>();

  ModelArtifactReader(Path directory) {
    this.directory = directory;
  }

  ModelArtifact read() {
    var json = readJson();
    stopIfWrong();
    var format = integer(json, "format", "model.json: format");
    if (problems.isEmpty() && format != FORMAT) {
      problems.add("model.json: format: found %d, expected %d; trace the model again with this version's trace.py"
          .formatted(format, FORMAT));
    }
    var artifact = new ModelArtifact(
        directory,
        text(json, "task"),
        target(json),
        precision(json),
        text(json, "torch"),
        texts(json, "inputs"),
        texts(json, "outputs"),
        shapes(json),
        integer(json, "maxSequenceLength", "model.json: maxSequenceLength"),
        pair(json.path("pair")),
        object(json, "parameters"),
        object(json, "provenance"));
    checkShapes(artifact);
    if (!Files.isReadable(artifact.tokenizer())) {
      problems.add("tokenizer.json: not found");
    }
    stopIfWrong();
    return artifact;
  }

  private JsonNode readJson() {
    var file = directory.resolve("model.json");
    if (!Files.isDirectory(directory)) {
      problems.add("not a directory");
    } else if (!Files.isReadable(file)) {
      problems.add(Files.exists(directory.resolve("model.tar.gz"))
          ? "model.json: not found, only a model.tar.gz that is still packed"
          : "model.json: not found; expected an artifact made by trace.py");
    } else {
      try {
        var json = JSON.readTree(file.toFile());
        if (json.isObject()) {
          return json;
        }
        problems.add("model.json: found %s, expected an object".formatted(kind(json)));
      } catch (JsonProcessingException e) {
        // A text that is too deep has no place.
        var line = e.getLocation() == null ? "" : " line %d:".formatted(e.getLocation().getLineNr());
        problems.add("model.json:%s %s".formatted(line, e.getOriginalMessage()));
      } catch (IOException e) {
        problems.add("model.json: can't be read: " + e.getMessage());
      }
    }
    return MissingNode.getInstance();
  }

  private Target target(JsonNode json) {
    var name = text(json, "target");
    return Arrays.stream(Target.values()).filter(t -> t.toString().equals(name)).findFirst().orElseGet(() -> {
      if (!name.isEmpty()) {
        var known = Arrays.stream(Target.values()).map(Target::toString).collect(Collectors.joining(", "));
        problems.add("model.json: target: found \"%s\", expected one of %s".formatted(name, known));
      }
      return Target.CPU;
    });
  }

  private String precision(JsonNode json) {
    var precision = text(json, "precision");
    if (json.path("precision").isTextual() && !PRECISIONS.contains(precision)) {
      problems.add("model.json: precision: found \"%s\", expected one of %s".formatted(precision, String.join(", ", PRECISIONS)));
    }
    return precision;
  }

  private Shapes shapes(JsonNode json) {
    var kind = text(json, "shapes");
    var files = json.path("files");
    if (!files.isArray() || files.isEmpty()) {
      problems.add("model.json: files: found %s, expected a list of {\"path\": …}".formatted(kind(files)));
      return new Shapes.Compiled(List.of());
    }
    return switch (kind) {
      case "dynamic" -> {
        if (files.size() > 1) {
          problems.add("model.json: files: found %d, expected one that takes every shape".formatted(files.size()));
        }
        yield new Shapes.Dynamic(modelFile(files.path(0), "model.json: files[0]"));
      }
      case "compiled" -> {
        var shapes = new ArrayList<Shapes.Shape>();
        for (int i = 0; i < files.size(); i++) {
          var name = "model.json: files[%d]".formatted(i);
          shapes.add(new Shapes.Shape(
              modelFile(files.path(i), name),
              integer(files.path(i), "batch", name + ".batch"),
              integer(files.path(i), "sequence", name + ".sequence")));
        }
        yield new Shapes.Compiled(shapes);
      }
      default -> {
        problems.add("model.json: shapes: found \"%s\", expected \"dynamic\" or \"compiled\"".formatted(kind));
        yield new Shapes.Compiled(List.of());
      }
    };
  }

  private void checkShapes(ModelArtifact artifact) {
    switch (artifact.shapes()) {
      case Shapes.Dynamic _ when artifact.target().isNeuron() -> problems.add(
          "model.json: shapes: found \"dynamic\", expected \"compiled\" for %s".formatted(artifact.target()));
      case Shapes.Dynamic _ -> { }
      case Shapes.Compiled(var shapes) -> shapes.stream()
          .filter(shape -> shape.sequence() > artifact.maxSequenceLength())
          .forEach(shape -> problems.add("model.json: files: found a sequence of %d, expected at most the maxSequenceLength of %d"
              .formatted(shape.sequence(), artifact.maxSequenceLength())));
    }
  }

  private Path modelFile(JsonNode entry, String name) {
    var path = entry.path("path").asText("");
    var file = directory.resolve(path).normalize();
    if (path.isEmpty() || !file.startsWith(directory.normalize()) || !Files.isReadable(file)) {
      problems.add("%s.path: found \"%s\", which is no file of the artifact that can be read".formatted(name, path));
    }
    return file;
  }

  private PairTemplate pair(JsonNode pair) {
    return new PairTemplate(
        tokens(pair, "before"),
        tokens(pair, "between"),
        tokens(pair, "after"),
        token(pair.path("padding"), "padding"),
        token(pair.path("questionType"), "questionType"),
        token(pair.path("contextType"), "contextType"));
  }

  private List<Long> tokens(JsonNode pair, String name) {
    var tokens = pair.path(name);
    if (!tokens.isArray()) {
      problems.add("model.json: pair.%s: found %s, expected a list of token ids".formatted(name, kind(tokens)));
    }
    return tokens.valueStream().map(token -> token(token, name)).toList();
  }

  private long token(JsonNode token, String name) {
    if (!token.isIntegralNumber() || token.longValue() < 0) {
      problems.add("model.json: pair.%s: found %s, expected a token id".formatted(name, kind(token)));
    }
    return token.asLong();
  }

  private String text(JsonNode json, String name) {
    var value = json.path(name);
    if (!value.isTextual() || value.textValue().isBlank()) {
      problems.add("model.json: %s: found %s, expected a text".formatted(name, kind(value)));
    }
    return value.asText("");
  }

  private List<String> texts(JsonNode json, String name) {
    var values = json.path(name);
    if (!values.isArray() || values.isEmpty() || !values.valueStream().allMatch(JsonNode::isTextual)) {
      problems.add("model.json: %s: found %s, expected a list of names".formatted(name, kind(values)));
    }
    return values.valueStream().map(JsonNode::asText).toList();
  }

  /// An object that may be left out.
  private Map<String, Object> object(JsonNode json, String name) {
    var value = json.path(name);
    if (value.isObject()) {
      return JSON.convertValue(value, new TypeReference<Map<String, Object>>() {});
    }
    if (!value.isMissingNode()) {
      problems.add("model.json: %s: found %s, expected an object".formatted(name, kind(value)));
    }
    return Map.of();
  }

  private int integer(JsonNode json, String field, String name) {
    var value = json.path(field);
    if (!value.isInt() || value.intValue() < 1) {
      problems.add("%s: found %s, expected a whole number of at least 1".formatted(name, kind(value)));
    }
    return value.asInt(1);
  }

  private static String kind(JsonNode value) {
    return switch (value.getNodeType()) {
      case MISSING -> "nothing";
      case OBJECT -> "an object";
      case ARRAY -> value.isEmpty() ? "an empty list" : "a list";
      default -> value.toString();
    };
  }

  private void stopIfWrong() {
    if (!problems.isEmpty()) {
      throw new ModelArtifactException(directory, problems);
    }
  }
}
