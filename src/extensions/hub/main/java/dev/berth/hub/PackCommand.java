package dev.berth.hub;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.berth.artifact.ModelArtifactException;
import dev.berth.artifact.ModelLayout;
import dev.berth.artifact.Target;
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
import picocli.CommandLine.ExitCode;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.OptionSpec;
import picocli.CommandLine.Model.PositionalParamSpec;
import picocli.CommandLine.ParseResult;
import picocli.CommandLine.TypeConversionException;

/// The `serve pack` command: a model artifact of a Hugging Face directory that has an ONNX file.
///
/// It is made in a directory beside the output, asked there, and moved when it is whole.
public final class PackCommand implements Subcommand {

    private static final List<String> TOKENIZER_FILES =
            List.of("tokenizer.json", "tokenizer_config.json", "special_tokens_map.json");

    private static final int LONGEST_SHOWN = 200;

    private final Map<String, String> environment;
    private final Path home;

    public PackCommand() {
        this(Map.of(), Path.of(""));
    }

    PackCommand(Map<String, String> environment, Path home) {
        this.environment = new HashMap<>(environment);
        this.environment.remove("BERTH_MODELS");
        // Only what needs attention is logged, unless somebody wants more.
        this.environment.putIfAbsent("SAGEMAKER_CONTAINER_LOG_LEVEL", "WARN");
        // What it makes is tried there.
        this.environment.put("INSTANCE_TYPE", "cpu");
        this.home = home;
    }

    @Override
    public CommandSpec spec() {
        var spec = CommandSpec.create().name("pack").mixinStandardHelpOptions(true);
        spec.addOption(OptionSpec.builder("--output")
                .type(Path.class)
                .required(true)
                .paramLabel("<dir>")
                .description("The directory to write the artifact to; it must not be there yet")
                .build());
        spec.addOption(OptionSpec.builder("--file")
                .type(Path.class)
                .paramLabel("<path>")
                .description(
                        "The ONNX file to take, such as onnx/model_O3.onnx",
                        "  Default: model.onnx, or one in int8 for this CPU that gives the same answers")
                .build());
        spec.addOption(OptionSpec.builder("--target")
                .type(Target.class)
                .converters((ITypeConverter<Target>) PackCommand::target)
                .defaultValue("cpu")
                .paramLabel("<device>")
                .description("What it is served on: cpu or gpu, which takes no file in int8", "  Default: cpu")
                .build());
        spec.addPositional(PositionalParamSpec.builder()
                .index("0")
                .arity("1")
                .required(true)
                .type(Path.class)
                .paramLabel("SOURCE")
                .description("A directory of a Hugging Face model, or a snapshot of the hub's cache")
                .build());
        spec.usageMessage()
                .customSynopsis("serve pack SOURCE --output DIR [--file PATH] [--target DEVICE]")
                .description("Makes a model artifact of a Hugging Face model that has an ONNX file.", "");
        return spec;
    }

    private static Target target(String name) {
        return Stream.of(Target.CPU, Target.GPU)
                .filter(target -> target.toString().equals(name))
                .findFirst()
                .orElseThrow(() -> new TypeConversionException("found \"%s\", expected cpu or gpu".formatted(name)));
    }

    @Override
    public int run(Map<String, String> environment, Path home, ParseResult parsed) {
        return new PackCommand(environment, home).run(parsed);
    }

    private int run(ParseResult parsed) {
        Path source =
                parsed.<Path>matchedPositionalValue(0, null).toAbsolutePath().normalize();
        Path output = parsed.commandSpec().findOption("--output").getValue();
        Path file = parsed.commandSpec().findOption("--file").getValue();
        Target target = parsed.commandSpec().findOption("--target").getValue();
        try {
            Logging.configure(Logging.settings(environment, Map.of()), new FileOutputStream(FileDescriptor.err));
            pack(
                    source,
                    output.toAbsolutePath(),
                    Optional.ofNullable(file).map(source::resolve),
                    target,
                    System.out::println);
            System.out.printf("wrote %s%n  serve check %1$s%n  serve --model-dir %1$s%n", output);
            return ExitCode.OK;
        } catch (ConfigurationException e) {
            e.problems().forEach(System.err::println);
            return ExitCode.USAGE;
        } catch (ModelArtifactException | StartException e) {
            System.err.println(e.getMessage());
        } catch (IOException e) {
            System.err.printf("%s can't be written: %s%n", output, e);
        } catch (Exception e) {
            System.err.println(StartException.of(e).getMessage());
        }
        return ExitCode.SOFTWARE;
    }

    /// @param target what it is served on; it is tried on the CPU
    /// @param say is given what was chosen and why, line by line
    void pack(Path source, Path output, Optional<Path> file, Target target, Consumer<String> say) throws Exception {
        if (!Files.isDirectory(source)) {
            throw new StartException(
                    "%s: found no such directory, expected that of a Hugging Face model".formatted(source));
        }
        if (Files.exists(output, LinkOption.NOFOLLOW_LINKS)) {
            throw new StartException(
                    "--output %s: found something there, expected the name of a new directory".formatted(output));
        }
        var model = new HubModel(source, file);
        var task = HubTask.of(model);
        model.reasons.forEach(say);
        model.warnings.forEach(warning -> say.accept("warning: " + warning));
        Files.createDirectories(output.getParent());
        var unfinished = Files.createTempDirectory(output.getParent(), ".berth-pack");
        try {
            var trial = new Trial(task, model);
            var chosen = write(model, unfinished.resolve("full"));
            var answers = ask(trial, chosen, model);
            boolean mayBeLighter = file.isEmpty() && target == Target.CPU;
            for (var candidate : mayBeLighter ? model.lighter() : List.<Path>of()) {
                var name = source.relativize(candidate);
                try {
                    var lighter = new HubModel(source, Optional.of(candidate));
                    HubTask.of(lighter);
                    var directory = write(lighter, unfinished.resolve(candidate.getFileName()));
                    var own = ask(trial, directory, lighter);
                    var agreement = trial.compare(answers, own);
                    boolean agrees = Trial.agrees(agreement);
                    say.accept("%s: %s; %s".formatted(name, agreement, agrees ? "taken" : "not taken"));
                    if (agrees) {
                        lighter.description.set("agreement", JsonText.tree(agreement));
                        model = lighter;
                        chosen = directory;
                        answers = own;
                        break;
                    }
                } catch (StartException | ModelArtifactException e) {
                    say.accept("%s: %s; not taken".formatted(name, e.getMessage()));
                }
            }
            Files.write(chosen.resolve("sample.json"), JsonText.bytes(trial.sample()));
            var answer = answers.getFirst();
            // int8 and fp16 round otherwise on other machines. The text of an answer stays the same.
            if (answer.has("answer")
                    || model.description.path("precision").asText().equals("fp32")) {
                Files.write(chosen.resolve("sample-response.json"), JsonText.bytes(answer));
            }
            model.description.put("target", target.toString());
            describe(model, chosen);
            var text = answer.toString();
            say.accept("sample: " + text.substring(0, Math.min(LONGEST_SHOWN, text.length())));
            Files.move(chosen, output);
        } finally {
            try (var files = Files.walk(unfinished)) {
                for (var each : files.toList().reversed()) {
                    Files.delete(each);
                }
            }
        }
    }

    /// Everything but the sample. What links lead to is copied.
    private static Path write(HubModel model, Path directory) throws IOException {
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
        for (var name : TOKENIZER_FILES) {
            if (Files.exists(model.directory.resolve(name))) {
                Files.copy(model.directory.resolve(name), directory.resolve(name));
            }
        }
        ((ObjectNode) model.description.path("files").path(0)).put("path", model.nameInArtifact());
        describe(model, directory);
        return directory;
    }

    private static void describe(HubModel model, Path directory) throws IOException {
        Files.write(directory.resolve("model.json"), JsonText.bytes(model.description));
    }

    private List<JsonNode> ask(Trial trial, Path artifact, HubModel model) throws Exception {
        try (var loaded = InProcessModel.load(artifact, environment, home)) {
            return trial.ask(loaded);
        } catch (ServingException | StartException e) {
            var why = e instanceof ServingException ? "the model does not answer the sample: " : "";
            // Its own place is gone when this is read.
            throw new StartException((why + e.getMessage())
                    .replace(artifact.resolve(model.nameInArtifact()).toString(), model.file.toString())
                    .replace(artifact.toString(), model.directory.toString())
                    .replace("model.json: ", ModelLayout.SOURCE));
        }
    }
}
