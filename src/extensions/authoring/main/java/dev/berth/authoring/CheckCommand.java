package dev.berth.authoring;

import dev.berth.command.ServeOptions;
import dev.berth.command.StartException;
import dev.berth.command.Subcommand;
import dev.berth.config.HttpConfig;
import dev.berth.config.ModelConfig;
import dev.berth.config.ServingConfig;
import dev.berth.config.Syntax;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import picocli.CommandLine.Command;
import picocli.CommandLine.ExitCode;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.ParseResult;

/// The `serve check` command: whether a model artifact can be served here, and how fast.
///
/// The report goes to stdout; problems and the log go to stderr, and problems end the process with
/// 1.
@Command(
        name = "check",
        customSynopsis = "serve check [option]... [MODEL_DIR]",
        description = {
            "Loads a model artifact on the devices of this machine, asks it its sample.json and measures it.",
            "The hooks have the classes, the content types and the time that they have in serve.",
            ""
        },
        exitCodeListHeading = "%nExit codes:%n",
        exitCodeList = {
            "0:serve would start and answer the sample; the report is on stdout",
            "1:it would not; stderr says why, one line for each problem",
            "2:an option or a setting is wrong; stderr names it"
        })
public final class CheckCommand implements Subcommand {

    @Parameters(
            arity = "0..1",
            paramLabel = "MODEL_DIR",
            description = "The model artifact; unset, the one that serve would take")
    private Path directory;

    @Override
    public CommandSpec spec() {
        var spec = ServeOptions.with(CommandSpec.forAnnotatedObject(this), ModelConfig.OF_ONE_MODEL);
        // The model is asked a request, too.
        ServeOptions.add(List.of(ServingConfig.TIMEOUT, HttpConfig.DEFAULT_ACCEPT, ServingConfig.BAD_RECORDS), spec);
        return spec;
    }

    @Override
    public int run(Map<String, String> environment, Path home, ParseResult check) throws StartException {
        // What was given before the name of this command counts too.
        var serve = check.commandSpec().parent().commandLine().getParseResult();
        var flags = new HashMap<>(ServeOptions.given(serve));
        flags.putAll(ServeOptions.given(check));
        if (flags.containsKey("--models")) {
            System.err.println("--models: found it before check, expected the directory of one artifact behind it");
            return ExitCode.USAGE;
        }
        if (directory != null) {
            if (!Files.isDirectory(directory)) {
                throw new StartException("%s: found no such directory, expected a model artifact%s"
                        .formatted(directory, Syntax.unpacking(directory.toString())));
            }
            flags.put("--model-dir", directory.toString());
        }
        Check.run(ServeOptions.ofOneModel(environment, flags, home)).forEach(System.out::println);
        return ExitCode.OK;
    }
}
