package dev.berth.artifact;

import dev.berth.hooks.ElementType;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.function.Predicate;
import java.util.stream.Stream;

/// A model artifact that is a model file and nothing more: tensors in, tensors out. Its
/// `model.json` has no task, or there is none.
///
/// ```json
/// {
///   "format": 1,
///   "files": [{"path": "model.pt"}],
///   "inputs": [{"name": "flat", "type": "float32", "columns": ["size", "rooms"]}],
///   "outputs": ["probabilities"],
///   "independentRows": true
/// }
/// ```
///
/// Only `format` and `files` must be there. Without a `model.json` the file is the one named
/// `model`, or the only one, among those that an engine reads.
///
/// @param directory the directory unpacked from `model.tar.gz`
/// @param file the model, such as a TorchScript
/// @param target the device that the model was traced for; empty: any but Neuron
/// @param inputs the parameters of the model's `forward`, in their order; empty: those that the
///   model itself names
/// @param outputs the names of what `forward` returns, in its order; in any order where it returns
///   a dict, whose keys they are; empty: unknown
/// @param independentRows whether what the model says of a row is the same whatever rows go with
///   it; empty: the file does not say
public record TensorArtifact(
        Path directory,
        Path file,
        Optional<Target> target,
        List<Input> inputs,
        List<String> outputs,
        Optional<Boolean> independentRows) {

    private static final List<String> TYPES =
            Stream.of(ElementType.values()).map(ElementType::toString).toList();

    /// A parameter of the model's `forward`.
    ///
    /// @param type what it takes; numbers of JSON and CSV are read as that
    /// @param columns the names of its columns in a table; empty: they have none
    public record Input(String name, ElementType type, List<String> columns) {

        public Input {
            columns = List.copyOf(columns);
        }
    }

    public TensorArtifact {
        inputs = List.copyOf(inputs);
        outputs = List.copyOf(outputs);
    }

    /// Reads and checks the artifact in `directory`.
    ///
    /// @param forms for each engine, whether a file is a model of it. Without a `model.json` the
    ///   first one that finds a file is served
    /// @throws ModelArtifactException with everything that is wrong
    public static TensorArtifact open(Path directory, List<Predicate<Path>> forms) {
        if (!ModelJson.isIn(directory)) {
            return new TensorArtifact(
                    directory, onlyFile(directory, forms), Optional.empty(), List.of(), List.of(), Optional.empty());
        }
        var json = ModelJson.read(directory).checkFormat();
        var files = json.files();
        if (files.size() > 1) {
            json.problem(
                    "files: found %d, expected one that takes every shape: [{\"path\": …}]".formatted(files.size()));
        }
        var artifact = new TensorArtifact(
                directory,
                files.isEmpty() ? directory : files.getFirst().file(),
                json.findTarget(),
                inputs(json),
                json.findTexts("outputs"),
                json.flag("independentRows"));
        artifact.target
                .filter(Target::isNeuron)
                .ifPresent(neuron -> json.problem(
                        "target: found \"%s\", expected cpu or gpu: a compiled model needs hooks that know its shapes"
                                .formatted(neuron)));
        json.stopIfWrong();
        return artifact;
    }

    private static List<Input> inputs(ModelJson json) {
        if (!json.has("inputs")) {
            return List.of();
        }
        var inputs = json.list("inputs", "a list of names").stream()
                .map(TensorArtifact::input)
                .toList();
        requireEachOnce(
                json,
                "columns ",
                inputs.stream().flatMap(input -> input.columns.stream()).toList());
        requireEachOnce(json, "", inputs.stream().map(Input::name).toList());
        return inputs;
    }

    /// An input is a name, or an object with one.
    private static Input input(ModelJson input) {
        if (input.json().isTextual()) {
            return new Input(input.json().textValue(), ElementType.FLOAT32, List.of());
        }
        if (!input.json().path("name").isTextual()) {
            input.wrong("a name or {\"name\": …, \"type\": …}");
        }
        var type = input.has("type") ? input.choice("type", TYPES) : ElementType.FLOAT32.toString();
        return new Input(
                input.json().path("name").asText(),
                ElementType.named(type).orElse(ElementType.FLOAT32),
                input.findTexts("columns"));
    }

    private static void requireEachOnce(ModelJson json, String kind, List<String> names) {
        if (names.stream().distinct().count() < names.size()) {
            json.problem("inputs: found %s%s, expected each once".formatted(kind, names));
        }
    }

    private static Path onlyFile(Path directory, List<Predicate<Path>> forms) {
        var found = forms.stream()
                .map(form -> entries(directory, form))
                .filter(files -> !files.isEmpty())
                .findFirst()
                .orElse(List.of());
        var model = found.stream()
                .filter(file -> file.getFileName().toString().startsWith("model."))
                .findFirst();
        if (found.size() != 1 && model.isEmpty()) {
            throw new ModelArtifactException(
                    directory,
                    found.isEmpty()
                            ? "model.json: not found, nor hooks in code/, nor a model file such as model.pt or model.onnx%s"
                                    .formatted(only(
                                            directory, file -> forms.stream().anyMatch(f -> f.test(file))))
                            : "found %s and no model.json that says which one is served; expected one, or model.pt"
                                    .formatted(found.stream()
                                            .map(Path::getFileName)
                                            .toList()));
        }
        var file = model.orElseGet(found::getFirst);
        ArtifactFile.problem(file).ifPresent(what -> {
            throw new ModelArtifactException(directory, "%s: %s".formatted(file.getFileName(), what));
        });
        return file;
    }

    /// What is there in place of an artifact, and what to do about it.
    private static String only(Path directory, Predicate<Path> isModel) {
        var artifacts = entries(directory, entry -> Files.isDirectory(entry) && isArtifact(entry, isModel)).stream()
                .map(Path::getFileName)
                .toList();
        if (artifacts.size() == 1) {
            return ", only %1$s/, which has one; name or mount that, or pack what is in it: tar -czf model.tar.gz -C %1$s ."
                    .formatted(artifacts.getFirst());
        }
        if (!artifacts.isEmpty()) {
            return ", only %s, which have one each; name or mount one of them, or serve all with --models"
                    .formatted(artifacts);
        }
        if (Files.exists(directory.resolve("model.tar.gz"))) {
            return ", only a model.tar.gz that is still packed; unpack it: tar -xzf model.tar.gz";
        }
        if (entries(directory, _ -> true).isEmpty()) {
            return ", as the directory is empty; name a model artifact with --model-dir, or mount one, docker run -v \"$PWD/my-model:/opt/ml/model\"";
        }
        if (!entries(directory, file -> file.toString().endsWith(".java")).isEmpty()) {
            return ", only hooks, which lie in code/; name the directory above, or move them into code/ here";
        }
        // Of several files the largest is most likely the model.
        return entries(directory, Files::isRegularFile).stream()
                .max(Comparator.comparingLong(file -> file.toFile().length()))
                .map(Path::getFileName)
                .map(
                        ", only %s, which no engine here reads; write hooks in code/ that do, with its library in code/lib"
                                ::formatted)
                .orElse("");
    }

    private static boolean isArtifact(Path directory, Predicate<Path> isModel) {
        return ModelJson.isIn(directory)
                || Files.isDirectory(directory.resolve("code"))
                || !entries(directory, isModel).isEmpty();
    }

    /// What lies in a directory itself, in the order of the names.
    private static List<Path> entries(Path directory, Predicate<Path> counts) {
        if (!Files.isDirectory(directory)) {
            throw new ModelArtifactException(directory, "not a directory");
        }
        try (var entries = Files.list(directory)) {
            return entries.filter(counts.and(entry -> !ArtifactFile.isHidden(entry.getFileName())))
                    .sorted()
                    .toList();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
