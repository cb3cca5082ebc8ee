package dev.berth.authoring;

import dev.berth.command.Subcommand;
import java.io.IOException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Path;
import java.util.Map;
import java.util.stream.Stream;
import picocli.CommandLine.ExitCode;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.OptionSpec;
import picocli.CommandLine.Model.PositionalParamSpec;
import picocli.CommandLine.ParseResult;

/// The `serve init` command: writes a model artifact with hooks to begin with, or adds them to one
/// that is there.
public final class InitCommand implements Subcommand {

    @Override
    public String name() {
        return "init";
    }

    @Override
    public CommandSpec spec() {
        var spec = CommandSpec.create().mixinStandardHelpOptions(true);
        spec.addOption(OptionSpec.builder("--template")
                .type(Template.class)
                .paramLabel("<template>")
                .defaultValue(Template.TENSOR.toString())
                .description(Stream.concat(
                                Stream.of(Template.values()).map(each -> each + ": " + each.says),
                                Stream.of("  Default: " + Template.TENSOR))
                        .toArray(String[]::new))
                .build());
        spec.addPositional(PositionalParamSpec.builder()
                .index("0")
                .arity("1")
                .required(true)
                .type(Path.class)
                .paramLabel("DIR")
                .description(
                        "The directory to write. Of what is there nothing is changed; an artifact gets hooks, a test and a pom.xml")
                .build());
        spec.usageMessage()
                .customSynopsis("serve init [--template qa|image|tensor|text|picture|streaming|recommender] DIR")
                .description(
                        "Writes a model artifact to begin with: hooks with comments, a request to try, and a test.",
                        "");
        return spec;
    }

    @Override
    public int run(Map<String, String> environment, Path home, ParseResult parsed) {
        Path directory = parsed.matchedPositionalValue(0, null);
        Template template = parsed.commandSpec().findOption("--template").getValue();
        try {
            var written = template.write(directory, home.resolve("model-artifact"));
            if (written.added().isEmpty()) {
                System.out.printf("nothing is missing in %s%n", directory);
            } else {
                System.out.printf("wrote the template %s to %s%n", template, directory);
            }
            written.added().forEach(file -> System.out.printf("  added %s%n", file));
            written.missing().forEach(file -> System.out.printf("  put %s there, which trace.py makes%n", file));
            System.out.printf("  serve check %s%n  serve --model-dir %s%n", directory, directory);
            return ExitCode.OK;
        } catch (FileAlreadyExistsException e) {
            System.err.printf("%s: found a file, expected a directory, or nothing%n", directory);
            return ExitCode.SOFTWARE;
        } catch (IOException e) {
            System.err.printf("%s: can't be written: %s%n", directory, e);
            return ExitCode.SOFTWARE;
        }
    }
}
