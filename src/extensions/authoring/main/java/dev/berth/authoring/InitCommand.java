package dev.berth.authoring;

import dev.berth.artifact.code.Thrown;
import dev.berth.command.StartException;
import dev.berth.command.Subcommand;
import dev.berth.config.Syntax;
import java.io.IOException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import picocli.CommandLine.Command;
import picocli.CommandLine.ExitCode;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.ParseResult;
import picocli.CommandLine.TypeConversionException;

/// The `serve init` command: writes a model artifact with hooks to begin with, or adds them to one
/// that is there.
@Command(
        name = "init",
        mixinStandardHelpOptions = true,
        customSynopsis = "serve init [--template qa|image|tensor|text|picture|streaming|recommender] DIR",
        description = {"Writes a model artifact to begin with: hooks with comments, a request to try, and a test.", ""})
public final class InitCommand implements Subcommand {

    @Option(
            names = "--template",
            paramLabel = "<template>",
            defaultValue = "tensor",
            converter = Name.class,
            description = {
                "qa: question answering with one hook changed",
                "image: a TorchScript that is given images",
                "tensor: a TorchScript that is given numbers",
                "text: texts in, a label out",
                "picture: a picture out",
                "streaming: an answer that leaves part by part",
                "recommender: plain Java without a TorchScript",
                "  Default: tensor"
            })
    private Template template;

    @Parameters(
            paramLabel = "DIR",
            description =
                    "The directory to write. Of what is there nothing is changed; an artifact gets hooks, a test and a pom.xml")
    private Path directory;

    /// By the words of `--help`.
    private static final class Name implements ITypeConverter<Template> {
        private static final Syntax<Template> SYNTAX = Syntax.oneOf(Template.class);

        @Override
        public Template convert(String name) {
            return SYNTAX.read(name)
                    .orElseThrow(() -> new TypeConversionException(
                            "found \"%s\", expected %s".formatted(name, SYNTAX.expected())));
        }
    }

    @Override
    public CommandSpec spec() {
        return CommandSpec.forAnnotatedObject(this);
    }

    @Override
    public int run(Map<String, String> environment, Path home, ParseResult parsed) throws StartException {
        try {
            var written = template.write(directory, home.resolve("model-artifact"));
            // In the image it is there.
            boolean isOnPath =
                    List.of(environment.getOrDefault("PATH", "").split(":")).contains(home.toString());
            var serve = isOnPath ? "serve" : home.resolve("serve").toString();
            if (written.added().isEmpty()) {
                System.out.printf("nothing is missing in %s%n", directory);
            } else {
                System.out.printf("wrote the template %s to %s%n", template, directory);
            }
            written.added().forEach(file -> System.out.printf("  added %s%n", file));
            written.missing().forEach(file -> System.out.printf("  put %s there, which trace.py makes%n", file));
            if (!written.added().contains("code/Inference.java")) {
                System.out.printf(
                        "  left code/ as it is, and added no test; for both to copy from: %s init another-directory%n",
                        serve);
            }
            System.out.printf("  %s check %s%n  %1$s --model-dir %2$s%n", serve, directory);
            return ExitCode.OK;
        } catch (FileAlreadyExistsException e) {
            throw new StartException("%s: found a file, expected a directory, or nothing".formatted(directory));
        } catch (IOException e) {
            throw new StartException("%s: can't be written: %s".formatted(directory, Thrown.of(e)));
        }
    }
}
