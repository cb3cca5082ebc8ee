package dev.berth.command;

import dev.berth.artifact.ArtifactFile;
import dev.berth.artifact.ArtifactTree;
import dev.berth.artifact.ModelArtifact;
import dev.berth.artifact.ModelArtifactException;
import dev.berth.artifact.ModelJson;
import dev.berth.artifact.TensorArtifact;
import dev.berth.artifact.TracedArtifact;
import dev.berth.artifact.code.HookCode;
import dev.berth.engine.Engine;
import dev.berth.handler.task.Tasks;
import dev.berth.handler.tensor.TensorHandler;
import dev.berth.hooks.InferenceHandler;
import dev.berth.json.JsonText;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.SequencedMap;
import java.util.stream.Collectors;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// The hooks that a model artifact asks for: its own from `code/`, else the built-in handler of its
/// task, else the tensor handler.
///
/// @param handler made, and not loaded; whoever opens this closes it
/// @param description what there is to say of the artifact, by name
public record ArtifactHooks(InferenceHandler<?, ?, ?> handler, SequencedMap<String, String> description) {

    /// Files of tokenizers that only Python reads.
    private static final List<String> SLOW_TOKENIZERS =
            List.of("vocab.txt", "vocab.json", "spiece.model", "sentencepiece.bpe.model");

    /// Where jars are used.
    private static final List<Path> JARS = List.of(Path.of("code"), Path.of("code", "lib"));

    private static final Logger log = LoggerFactory.getLogger(ArtifactHooks.class);

    /// @param program the file of `code/` that has the hooks, where somebody has named one
    /// @throws ModelArtifactException with everything that is wrong with the artifact
    /// @throws Exception anything that the constructor of its own handler throws
    static ArtifactHooks open(Path directory, Optional<String> program) throws Exception {
        warnOfOversights(directory);
        var json = ModelJson.ifAny(directory);
        json.warnings().forEach(warning -> log.warn("{}: {}", directory, warning));
        var code = HookCode.find(directory, program, json.find("handler"));
        if (code.isPresent()) {
            return own(code.get().create(JsonText::forgetClasses));
        }
        // SageMaker's SDK sets it for any image.
        program.ifPresent(name ->
                log.warn("{}: SAGEMAKER_PROGRAM is {}, and has no effect without hooks in code/", directory, name));
        if (HookCode.hasPython(directory)) {
            log.warn("{}: code/ has hooks in Python, which are not run; docs/hooks.md turns them into Java", directory);
        }
        // A tokenizer without a model.json is a traced transformer that has lost it.
        var task = json.find("task");
        if (task.isPresent() || ArtifactFile.isThere(directory.resolve("tokenizer.json"))) {
            return ofTask(task.orElse(""), directory);
        }
        SLOW_TOKENIZERS.stream()
                .filter(file -> ArtifactFile.isThere(directory.resolve(file)))
                .findFirst()
                .ifPresent(file -> log.warn(
                        "{}: found {} and no tokenizer.json, so the model takes tensors; save its fast "
                                + "tokenizer there with AutoTokenizer.from_pretrained(…).save_pretrained(…)",
                        directory,
                        file));
        return ofTensors(TensorArtifact.open(directory, Engine.FORMS));
    }

    /// Tells what is certainly not meant, and what the server goes on without. Deeper files are somebody's
    /// data, and `target` is what a build leaves behind.
    private static void warnOfOversights(Path directory) {
        try {
            ArtifactTree.files(directory, file -> file.getNameCount() <= 4 && !file.endsWith("target"))
                    .forEach((file, attributes) -> {
                        if (attributes.isSymbolicLink()) {
                            log.warn(
                                    "{}: {}: found a link to nothing; tar -h packs what links lead to",
                                    directory,
                                    file);
                        } else if (file.toString().endsWith(".jar")
                                && JARS.stream().noneMatch(place -> place.equals(file.getParent()))) {
                            log.warn(
                                    "{}: {}: found a jar that is not used here; put libraries into code/lib, and hooks into code",
                                    directory,
                                    file);
                        }
                    });
        } catch (ModelArtifactException | UncheckedIOException _) {
            // What can't be read is told by whoever needs it.
        }
    }

    /// Hooks that are no part of Berth.
    static ArtifactHooks own(InferenceHandler<?, ?, ?> handler) {
        var type = handler.getClass();
        return new ArtifactHooks(
                handler,
                new LinkedHashMap<>(Map.of(
                        "hooks",
                        "%s of %s".formatted(type.getName(), HookCode.file(type).orElse("the server")))));
    }

    private static ArtifactHooks ofTask(String task, Path directory) {
        var known = Tasks.ALL.get(task);
        if (known == null) {
            // What else is wrong goes first.
            var artifact = ModelArtifact.open(directory);
            throw new ModelArtifactException(
                    directory,
                    "model.json: task: found \"%s\", expected one of %s"
                            .formatted(artifact.task(), String.join(", ", Tasks.ALL.keySet())));
        }
        var handler = known.apply(directory);
        return new ArtifactHooks(handler, described(handler.artifact()));
    }

    private static SequencedMap<String, String> described(TracedArtifact artifact) {
        var header = artifact.header();
        var name = Objects.requireNonNullElse(
                header.origin().provenance().get("model"), artifact.directory().getFileName());
        var how = header.origin().torch().isPresent() ? "traced" : "in ONNX";
        var torch = header.origin().torch().map(" with torch "::concat).orElse("");
        var files = artifact.servedFiles().stream()
                .map(file -> artifact.directory().relativize(file).toString());
        var description = new LinkedHashMap<String, String>();
        description.put(
                "model",
                "%s, %s, %s, %s for %s%s"
                        .formatted(name, artifact.task(), header.origin().precision(), how, artifact.target(), torch));
        var provenance = header.origin().provenance().entrySet().stream()
                .filter(each -> each.getValue() != null && !List.of().equals(each.getValue()))
                .map(each -> each.getKey() + " " + each.getValue())
                .collect(Collectors.joining(", "));
        if (!provenance.isEmpty()) {
            description.put("provenance", provenance);
        }
        description.put("shapes", artifact.shownShapes());
        description.put("files", files.collect(Collectors.joining(", ")));
        header.origin().agreement().ifPresent(agreement -> description.put("agreement", agreement.toString()));
        return description;
    }

    private static ArtifactHooks ofTensors(TensorArtifact artifact) {
        var handler = new TensorHandler(artifact);
        var description = new LinkedHashMap<String, String>();
        description.put("hooks", "the tensor handler");
        description.put(
                "files", artifact.directory().relativize(artifact.file()).toString());
        return new ArtifactHooks(handler, description);
    }
}
