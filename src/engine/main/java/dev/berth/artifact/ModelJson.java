package dev.berth.artifact;

import com.fasterxml.jackson.core.type.TypeReference;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import dev.berth.json.JsonText;
import dev.berth.json.NotJsonException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.ServiceLoader;
import java.util.function.Predicate;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/// An object of the `model.json` of a directory, read field by field: the whole file, or one within
/// it. Collects what is wrong with it and with the files that it names, so that all of it is said at
/// once. Used by one thread, once.
public final class ModelJson {

    private static final String NAME = "model.json";
    private static final int FORMAT = 1;
    private static final List<String> TARGETS =
            Stream.of(Target.values()).map(Target::toString).toList();
    private static final List<ModelLayout> LAYOUTS =
            ServiceLoader.load(ModelLayout.class, ModelLayout.class.getClassLoader()).stream()
                    .map(ServiceLoader.Provider::get)
                    .toList();

    private final Path directory;

    /// What messages name: the file, and the path of this value in it.
    private final String source;

    private final String path;
    private final JsonNode json;

    /// Those of the whole file.
    private final List<String> problems;

    private ModelJson(Path directory, String source, String path, JsonNode json, List<String> problems) {
        this.directory = directory;
        this.source = source;
        this.path = path;
        this.json = json;
        this.problems = problems;
    }

    /// @throws ModelArtifactException when there is no such file, or it is not a JSON object
    public static ModelJson read(Path directory) {
        if (!Files.isDirectory(directory)) {
            throw new ModelArtifactException(directory, "not a directory");
        }
        return in(directory)
                .orElseThrow(
                        () -> new ModelArtifactException(
                                directory,
                                Files.exists(directory.resolve("model.tar.gz"))
                                        ? "model.json: not found, only a model.tar.gz that is still packed; unpack it: tar -xzf model.tar.gz"
                                        : "model.json: not found; expected an artifact made by trace.py or serve pack, or an ONNX file beside config.json"));
    }

    /// The same, or an empty object where there is none: all that it says of how an artifact wants to be
    /// served may be left out. [ModelArtifact] and [TensorArtifact] say what is wrong with the rest.
    ///
    /// @throws ModelArtifactException when there is a `model.json` that is no JSON object
    public static ModelJson ifAny(Path directory) {
        return in(directory).orElseGet(() -> of(directory, NAME + ": ", JsonNodeFactory.instance.objectNode()));
    }

    /// The file's, else what would stand in it.
    private static Optional<ModelJson> in(Path directory) {
        return isIn(directory)
                ? Optional.of(of(directory, NAME + ": ", parsed(directory)))
                : LAYOUTS.stream()
                        .flatMap(layout -> layout.describe(directory).stream())
                        .findFirst()
                        .map(json -> of(directory, ModelLayout.SOURCE, json));
    }

    private static ModelJson of(Path directory, String source, JsonNode json) {
        return new ModelJson(directory, source, "", json, new ArrayList<>());
    }

    /// That of a directory, or the nearest one above it: a model file may stand deeper in its artifact.
    ///
    /// @see #ifAny
    public static ModelJson nearest(Path directory) {
        return Stream.iterate(directory.toAbsolutePath(), Objects::nonNull, Path::getParent)
                .filter(ModelJson::isIn)
                .findFirst()
                .map(ModelJson::read)
                .orElseGet(() -> ifAny(directory));
    }

    private static JsonNode parsed(Path directory) {
        var file = directory.resolve(NAME);
        var problem = ArtifactFile.problem(file);
        if (problem.isEmpty()) {
            try {
                var json = JsonText.read(file);
                if (json.isObject()) {
                    return json;
                }
                problem = Optional.of("found %s, expected an object".formatted(kind(json)));
            } catch (NotJsonException e) {
                problem = Optional.of(e.getMessage());
            } catch (IOException e) {
                problem = Optional.of("can't be read: " + e.getMessage());
            }
        }
        throw new ModelArtifactException(directory, "%s: %s".formatted(NAME, problem.get()));
    }

    static boolean isIn(Path directory) {
        return ArtifactFile.isThere(directory.resolve(NAME));
    }

    public ModelJson checkFormat() {
        int format = integer("format");
        if (problems.isEmpty() && format != FORMAT) {
            problem("format: found %d, expected %d; trace the model again with this version's trace.py"
                    .formatted(format, FORMAT));
        }
        return this;
    }

    public void problem(String message) {
        problems.add(source + message);
    }

    /// Tells that this value is not as expected.
    void wrong(String expected) {
        problem("%s: found %s, expected %s".formatted(path, kind(json), expected));
    }

    public void stopIfWrong() {
        if (!problems.isEmpty()) {
            throw new ModelArtifactException(directory, problems);
        }
    }

    Path directory() {
        return directory;
    }

    JsonNode json() {
        return json;
    }

    public boolean has(String field) {
        return json.has(field);
    }

    /// The value of a field, of which it is told where it does not fit.
    public JsonNode value(String field, Predicate<JsonNode> fits, String expected) {
        var value = json.path(field);
        if (!fits.test(value)) {
            part(field).wrong(expected);
        }
        return value;
    }

    public ModelJson at(String field, String expected) {
        value(field, JsonNode::isObject, expected);
        return part(field);
    }

    /// The objects of the list that a field holds; none where it holds none.
    List<ModelJson> list(String field, String expected) {
        var list = value(field, value -> value.isArray() && !value.isEmpty(), expected);
        return IntStream.range(0, list.isArray() ? list.size() : 0)
                .mapToObj(i ->
                        new ModelJson(directory, source, "%s[%d]".formatted(name(field), i), list.path(i), problems))
                .toList();
    }

    ModelJson part(String field) {
        return new ModelJson(directory, source, name(field), json.path(field), problems);
    }

    private String name(String field) {
        return path.isEmpty() ? field : "%s.%s".formatted(path, field);
    }

    public Optional<String> find(String field) {
        return has(field) ? Optional.of(text(field)) : Optional.empty();
    }

    String text(String field) {
        return value(field, value -> value.isTextual() && !value.textValue().isBlank(), "a text")
                .asText("");
    }

    List<String> findTexts(String field) {
        return has(field) ? texts(field) : List.of();
    }

    List<String> texts(String field) {
        var texts = value(
                field,
                value -> value.isArray()
                        && !value.isEmpty()
                        && value.valueStream().allMatch(JsonNode::isTextual),
                "a list of names");
        return texts.valueStream().map(JsonNode::asText).toList();
    }

    public String choice(String field, List<String> choices) {
        return value(
                        field,
                        value -> value.isTextual() && choices.contains(value.textValue()),
                        "one of " + String.join(", ", choices))
                .asText("");
    }

    public int integer(String field) {
        return value(field, value -> value.isInt() && value.intValue() >= 1, "a whole number of at least 1")
                .asInt(1);
    }

    Optional<Boolean> flag(String field) {
        var said = value(field, value -> value.isMissingNode() || value.isBoolean(), "true or false");
        return said.isBoolean() ? Optional.of(said.booleanValue()) : Optional.empty();
    }

    Map<String, Object> object(String field) {
        var object = value(field, value -> value.isMissingNode() || value.isObject(), "an object");
        return object.isObject()
                ? Collections.unmodifiableMap(JsonText.as(object, new TypeReference<Map<String, Object>>() {}))
                : Map.of();
    }

    Target target() {
        return Target.named(choice("target", TARGETS)).orElse(Target.CPU);
    }

    /// The device that the model was traced for.
    public Optional<Target> findTarget() {
        return has("target") ? Optional.of(target()) : Optional.empty();
    }

    /// What the files of a directory of another kind say in vain, a line each.
    public List<String> warnings() {
        return json.path(ModelLayout.WARNINGS)
                .valueStream()
                .map(JsonNode::asText)
                .toList();
    }

    List<ModelJson> files() {
        return list("files", "a list of {\"path\": …}");
    }

    /// The file whose `path` this object has.
    Path file() {
        var name = json.path("path").asText("");
        var file = directory.resolve(name);
        boolean inside = file.toAbsolutePath()
                .normalize()
                .startsWith(directory.toAbsolutePath().normalize());
        if (name.isEmpty() || !inside || !ArtifactFile.isThere(file)) {
            problem("%s: found \"%s\", which is no file of the artifact".formatted(name("path"), name));
        } else {
            check(name, file);
        }
        return file;
    }

    /// Tells of a file that can't be read.
    ///
    /// @param name what messages call it
    void check(String name, Path file) {
        ArtifactFile.problem(file).ifPresent(problem -> problems.add("%s: %s".formatted(name, problem)));
    }

    private static String kind(JsonNode value) {
        return switch (value.getNodeType()) {
            case MISSING -> "nothing";
            case OBJECT -> "an object";
            case ARRAY -> value.isEmpty() ? "an empty list" : "a list";
            default -> value.toString();
        };
    }
}
