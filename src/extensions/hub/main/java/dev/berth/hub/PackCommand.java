package dev.berth.hub;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.berth.artifact.ModelArtifactException;
import dev.berth.artifact.ModelLayout;
import dev.berth.artifact.Target;
import dev.berth.artifact.code.Thrown;
import dev.berth.command.Logging;
import dev.berth.command.StartException;
import dev.berth.command.Subcommand;
import dev.berth.config.ConfigurationException;
import dev.berth.error.ServingException;
import dev.berth.inprocess.InProcessModel;
import dev.berth.json.JsonText;
import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Consumer;
import java.util.stream.Stream;
import picocli.CommandLine.Command;
import picocli.CommandLine.ExitCode;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.ParseResult;
import picocli.CommandLine.TypeConversionException;

/// The `serve pack` command: a model artifact of a Hugging Face directory that has an ONNX file.
///
/// It is made in a directory beside the output, asked there, and moved when it is whole.
@Command(
        name = "pack",
        mixinStandardHelpOptions = true,
        customSynopsis = "serve pack SOURCE --output DIR [--file PATH] [--target DEVICE]",
        description = {"Makes a model artifact of a Hugging Face model that has an ONNX file.", ""})
public final class PackCommand implements Subcommand {

    /// Those of a tokenizer, and the weights of tokens in queries.
    private static final List<String> FILES_BESIDE =
            List.of("tokenizer.json", "tokenizer_config.json", "special_tokens_map.json", "idf.json");

    private static final int LONGEST_SHOWN = 200;

    @Option(
            names = "--output",
            required = true,
            paramLabel = "<dir>",
            description = "The directory to write the artifact to; it must not be there yet")
    private Path output;

    @Option(
            names = "--file",
            paramLabel = "<path>",
            description = {
                "The ONNX file to take, such as onnx/model_O3.onnx",
                "  Default: model.onnx, or one in int8 for this CPU that gives the same answers"
            })
    private Path file;

    @Option(
            names = "--target",
            defaultValue = "cpu",
            converter = Device.class,
            paramLabel = "<device>",
            description = {"What it is served on: cpu or gpu, which takes no file in int8", "  Default: cpu"})
    private Target target;

    @Parameters(
            paramLabel = "SOURCE",
            description = "A directory of a Hugging Face model, or a snapshot of the hub's cache")
    private Path source;

    private static final class Device implements ITypeConverter<Target> {
        @Override
        public Target convert(String name) {
            return Stream.of(Target.CPU, Target.GPU)
                    .filter(target -> target.toString().equals(name))
                    .findFirst()
                    .orElseThrow(
                            () -> new TypeConversionException("found \"%s\", expected cpu or gpu".formatted(name)));
        }
    }

    @Override
    public CommandSpec spec() {
        return CommandSpec.forAnnotatedObject(this);
    }

    @Override
    public int run(Map<String, String> environment, Path home, ParseResult parsed) throws StartException {
        Logging.configure(Logging.settings(settings(environment), Map.of()), new FileOutputStream(FileDescriptor.err));
        try {
            pack(environment, home, System.out::println);
            System.out.printf("wrote %s%n  %s check %1$s%n  %2$s --model-dir %1$s%n", output, home.resolve("serve"));
            return ExitCode.OK;
        } catch (ConfigurationException e) {
            throw e;
        } catch (IOException e) {
            throw new StartException("%s can't be written: %s".formatted(output, Thrown.of(e)));
        } catch (Exception e) {
            throw StartException.of(e);
        }
    }

    /// Those of the server that an artifact is tried on.
    private static Map<String, String> settings(Map<String, String> environment) {
        var settings = new HashMap<>(environment);
        settings.remove("BERTH_MODELS");
        // Only what needs attention is logged, unless somebody wants more.
        settings.putIfAbsent("SAGEMAKER_CONTAINER_LOG_LEVEL", "WARN");
        settings.put("INSTANCE_TYPE", "cpu");
        return settings;
    }

    /// An artifact that is made, and what it answers to a trial.
    private record Candidate(HubModel model, Path directory, List<JsonNode> answers) {}

    /// @param say is given what was chosen and why, line by line
    void pack(Map<String, String> environment, Path home, Consumer<String> say) throws Exception {
        source = source.toAbsolutePath().normalize();
        if (!Files.isDirectory(source)) {
            throw new StartException(
                    "%s: found no such directory, expected that of a Hugging Face model; hf download MODEL --local-dir DIR gets one"
                            .formatted(source));
        }
        if (Files.exists(output, LinkOption.NOFOLLOW_LINKS)) {
            throw new StartException(
                    "--output %s: found something there, expected the name of a new directory".formatted(output));
        }
        boolean isOfHub = Files.exists(source.resolve(HubModel.CONFIG));
        if (Files.exists(source.resolve("model.json")) || (!isOfHub && Files.isDirectory(source.resolve("code")))) {
            throw new StartException(
                    "%s: found a model artifact already, expected a directory of the hub; serve it with serve --model-dir %1$s"
                            .formatted(source));
        }
        var asked = Optional.ofNullable(file).map(source::resolve);
        var model = new HubModel(source, asked);
        var task = HubTask.of(model);
        model.reasons.forEach(say);
        model.warnings.forEach(warning -> say.accept("warning: " + warning));
        var parent = Files.createDirectories(output.toAbsolutePath().getParent());
        var unfinished = Files.createTempDirectory(parent, ".berth-pack");
        try {
            var trial = new Trial(task, model);
            var server = settings(environment);
            var chosen = candidate(model, trial, unfinished.resolve("full"), server, home);
            boolean mayBeLighter = asked.isEmpty() && target == Target.CPU;
            for (var light : mayBeLighter ? model.lighter() : List.<Path>of()) {
                var name = source.relativize(light);
                try {
                    var lighter = new HubModel(source, Optional.of(light));
                    HubTask.of(lighter);
                    var one = candidate(lighter, trial, unfinished.resolve(light.getFileName()), server, home);
                    var agreement = trial.compare(chosen.answers, one.answers);
                    boolean agrees = Trial.agrees(agreement);
                    say.accept("%s: %s; %s".formatted(name, agreement, agrees ? "taken" : "not taken"));
                    if (agrees) {
                        lighter.description.set("agreement", JsonText.tree(agreement));
                        chosen = one;
                        break;
                    }
                } catch (StartException | ModelArtifactException e) {
                    say.accept("%s: %s; not taken".formatted(name, e.getMessage()));
                }
            }
            finish(chosen, trial.sample());
            var text = chosen.answers.getFirst().toString();
            say.accept("sample: " + text.substring(0, Math.min(LONGEST_SHOWN, text.length())));
            Files.move(chosen.directory, output);
        } finally {
            try (var files = Files.walk(unfinished)) {
                for (var each : files.toList().reversed()) {
                    Files.delete(each);
                }
            }
        }
    }

    /// Makes the artifact of a model, and has it answer.
    private static Candidate candidate(
            HubModel model, Trial trial, Path directory, Map<String, String> environment, Path home) throws Exception {
        write(model, directory);
        try (var loaded = InProcessModel.load(directory, environment, home)) {
            return new Candidate(model, directory, trial.ask(loaded));
        } catch (ServingException | StartException e) {
            var why = e instanceof ServingException ? "the model does not answer the sample: " : "";
            // Its own place is gone when this is read.
            throw new StartException((why + e.getMessage())
                    .replace(directory.resolve(model.nameInArtifact()).toString(), model.file.toString())
                    .replace(directory.toString(), model.directory.toString())
                    .replace("model.json: ", ModelLayout.SOURCE));
        }
    }

    /// Writes the sample, and its answer where that is the same on other machines: int8 and fp16 round
    /// otherwise there, and only the text of an answer stays.
    private void finish(Candidate chosen, JsonNode sample) throws IOException {
        Files.write(chosen.directory.resolve("sample.json"), JsonText.bytes(sample));
        var answer = chosen.answers.getFirst();
        var description = chosen.model.description;
        if (answer.has("answer") || description.path("precision").asText().equals("fp32")) {
            Files.write(chosen.directory.resolve("sample-response.json"), JsonText.bytes(answer));
        }
        description.put("target", target.toString());
        describe(chosen.model, chosen.directory);
    }

    /// Everything but the sample. What links lead to is copied.
    private static void write(HubModel model, Path directory) throws IOException {
        Files.createDirectory(directory);
        Files.copy(model.file, directory.resolve(model.nameInArtifact()));
        for (var name : model.graph.weights()) {
            var from = model.file.resolveSibling(name).normalize();
            // What leads out of the directory is refused where the model is loaded.
            if (from.startsWith(model.file.resolveSibling("").normalize()) && Files.exists(from)) {
                var copy = directory.resolve(name).normalize();
                Files.createDirectories(copy.getParent());
                Files.copy(from, copy);
            }
        }
        for (var name : FILES_BESIDE) {
            if (Files.exists(model.directory.resolve(name))) {
                Files.copy(model.directory.resolve(name), directory.resolve(name));
            }
        }
        ((ObjectNode) model.description.path("files").path(0)).put("path", model.nameInArtifact());
        describe(model, directory);
    }

    private static void describe(HubModel model, Path directory) throws IOException {
        Files.write(directory.resolve("model.json"), JsonText.bytes(model.description));
    }
}
