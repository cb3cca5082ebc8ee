package dev.berth.artifact;

import com.fasterxml.jackson.core.type.TypeReference;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.MissingNode;
import dev.berth.json.JsonText;
import dev.berth.json.NotJsonException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.ServiceLoader;
import java.util.stream.Collectors;

/// The `model.json` of one directory, read field by field; collects what is wrong with it and with
/// the files that it names, so that all of it is said at once. Used by one thread, once.
final class ModelJson {

    static final String NAME = "model.json";

    private static final int FORMAT = 1;
    private static final List<String> PRECISIONS = List.of("fp32", "fp16", "bf16", "int8");

    private static final List<ModelLayout> LAYOUTS =
            ServiceLoader.load(ModelLayout.class, ModelLayout.class.getClassLoader()).stream()
                    .map(ServiceLoader.Provider::get)
                    .toList();

    private final Path directory;
    private final List<String> problems = new ArrayList<>();
    private final JsonNode json;
    private boolean isDescribed;

    private ModelJson(Path directory) {
        this.directory = directory;
        this.json = readJson();
    }

    /// @throws ModelArtifactException when there is no such file, or it is not a JSON object
    static ModelJson read(Path directory) {
        var json = new ModelJson(directory);
        json.stopIfWrong();
        return json;
    }

    ModelJson checkFormat() {
        int format = integer(json, "format", "format");
        if (problems.isEmpty() && format != FORMAT) {
            problem("model.json: format: found %d, expected %d; trace the model again with this version's trace.py"
                    .formatted(format, FORMAT));
        }
        return this;
    }

    static boolean isIn(Path directory) {
        return ArtifactFile.isThere(directory.resolve(NAME));
    }

    /// What would stand in the file where there is none.
    ///
    /// @throws ModelArtifactException when that can't be told
    static Optional<JsonNode> described(Path directory) {
        return LAYOUTS.stream()
                .flatMap(layout -> layout.describe(directory).stream())
                .findFirst();
    }

    JsonNode json() {
        return json;
    }

    /// A text that may be left out.
    Optional<String> find(String name) {
        return json.has(name) ? Optional.of(text(name)) : Optional.empty();
    }

    void problem(String message) {
        problems.add(isDescribed ? message.replaceFirst("^model\\.json: ", ModelLayout.SOURCE) : message);
    }

    /// Tells that a field of the object itself is not as expected.
    void wrong(String field, String expected) {
        wrong(field, json.path(field), expected);
    }

    /// Tells that a value is not as expected.
    ///
    /// @param name its path in the file
    void wrong(String name, JsonNode found, String expected) {
        problem("model.json: %s: found %s, expected %s".formatted(name, kind(found), expected));
    }

    private JsonNode readJson() {
        var file = directory.resolve("model.json");
        if (!Files.isDirectory(directory)) {
            problem("not a directory");
        } else if (!ArtifactFile.isThere(file)) {
            var described = described(directory);
            if (described.isPresent()) {
                isDescribed = true;
                return described.get();
            }
            problem(
                    Files.exists(directory.resolve("model.tar.gz"))
                            ? "model.json: not found, only a model.tar.gz that is still packed"
                            : "model.json: not found; expected an artifact made by trace.py or serve pack, or an ONNX file beside config.json");
        } else if (check(NAME, file)) {
            try {
                var json = JsonText.read(file);
                if (json.isObject()) {
                    return json;
                }
                problem("model.json: found %s, expected an object".formatted(kind(json)));
            } catch (NotJsonException e) {
                problem("model.json: " + e.getMessage());
            } catch (IOException e) {
                problem("model.json: can't be read: " + e.getMessage());
            }
        }
        return MissingNode.getInstance();
    }

    Target target() {
        var name = text("target");
        var known = List.of(Target.values());
        var target = known.stream().filter(each -> each.toString().equals(name)).findFirst();
        if (!name.isEmpty() && target.isEmpty()) {
            var names = known.stream().map(Target::toString).collect(Collectors.joining(", "));
            wrong("target", "one of " + names);
        }
        return target.orElse(Target.CPU);
    }

    /// What every traced model says.
    TracedArtifact.Header header() {
        return new TracedArtifact.Header(
                directory,
                text("task"),
                target(),
                precision(),
                find("torch"),
                texts("inputs"),
                texts("outputs"),
                independentRowsOfATask(),
                json.has("labels") ? texts("labels") : List.of(),
                object("parameters"),
                agreement(),
                object("provenance"));
    }

    /// What the file says of the rows of a forward, if it says it.
    Optional<Boolean> independentRows() {
        var said = json.path("independentRows");
        if (!said.isMissingNode() && !said.isBoolean()) {
            wrong("independentRows", "true or false");
        }
        return said.isBoolean() ? Optional.of(said.booleanValue()) : Optional.empty();
    }

    /// The same of a model for a task, whose rows share a batch where that is quicker.
    private Optional<Boolean> independentRowsOfATask() {
        var said = independentRows();
        if (said.equals(Optional.of(false))) {
            wrong("independentRows", "true or nothing: rows of a task go through its model together");
        }
        return said;
    }

    private String precision() {
        var precision = text("precision");
        if (json.path("precision").isTextual() && !PRECISIONS.contains(precision)) {
            wrong("precision", "one of " + String.join(", ", PRECISIONS));
        }
        return precision;
    }

    /// Artifacts in fp32, those for Neuron and those of earlier versions have none.
    private Optional<Agreement> agreement() {
        var agreement = json.path("agreement");
        if (agreement.isMissingNode()) {
            return Optional.empty();
        }
        if (!agreement.isObject()) {
            wrong("agreement", "an object");
            return Optional.empty();
        }
        int questions = integer(agreement, "questions", "agreement.questions");
        var same = agreement.path("sameAnswers");
        if (!same.isInt() || same.intValue() < 0 || same.intValue() > questions) {
            wrong("agreement.sameAnswers", same, "a whole number from 0 to " + questions);
        }
        var difference = agreement.path("largestScoreDifference");
        if (!difference.isNumber() || difference.doubleValue() < 0 || difference.doubleValue() > 1) {
            wrong("agreement.largestScoreDifference", difference, "a number from 0 to 1");
        }
        return Optional.of(new Agreement(questions, same.asInt(), difference.asDouble()));
    }

    /// The list of files, empty where it is wrong.
    JsonNode files() {
        var files = json.path("files");
        if (!files.isArray() || files.isEmpty()) {
            wrong("files", "a list of {\"path\": …}");
            return MissingNode.getInstance();
        }
        return files;
    }

    Path modelFile(JsonNode entry, String name) {
        var path = entry.path("path").asText("");
        var file = directory.resolve(path);
        boolean inside = file.toAbsolutePath()
                .normalize()
                .startsWith(directory.toAbsolutePath().normalize());
        if (path.isEmpty() || !inside || !ArtifactFile.isThere(file)) {
            problem("model.json: %s.path: found \"%s\", which is no file of the artifact".formatted(name, path));
        } else {
            check(path, file);
        }
        return file;
    }

    /// Whether a file can be read.
    ///
    /// @param name what messages call it
    boolean check(String name, Path file) {
        var what = ArtifactFile.problem(file);
        what.ifPresent(problem -> problem("%s: %s".formatted(name, problem)));
        return what.isEmpty();
    }

    String text(String name) {
        var value = json.path(name);
        if (!value.isTextual() || value.textValue().isBlank()) {
            wrong(name, "a text");
        }
        return value.asText("");
    }

    List<String> texts(String name) {
        var values = json.path(name);
        if (!values.isArray() || values.isEmpty() || !values.valueStream().allMatch(JsonNode::isTextual)) {
            wrong(name, "a list of names");
        }
        return values.valueStream().map(JsonNode::asText).toList();
    }

    /// An object that may be left out.
    private Map<String, Object> object(String name) {
        var value = json.path(name);
        if (value.isObject()) {
            return JsonText.as(value, new TypeReference<Map<String, Object>>() {});
        }
        if (!value.isMissingNode()) {
            wrong(name, "an object");
        }
        return Map.of();
    }

    /// @param name the field's path in the file
    int integer(JsonNode json, String field, String name) {
        var value = json.path(field);
        if (!value.isInt() || value.intValue() < 1) {
            wrong(name, value, "a whole number of at least 1");
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

    void stopIfWrong() {
        if (!problems.isEmpty()) {
            throw new ModelArtifactException(directory, problems);
        }
    }
}
