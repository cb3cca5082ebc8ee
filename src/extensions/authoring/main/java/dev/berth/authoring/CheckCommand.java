package dev.berth.authoring;

import dev.berth.command.ServeOptions;
import dev.berth.command.StartException;
import dev.berth.command.Subcommand;
import dev.berth.config.ConfigurationException;
import dev.berth.config.HttpConfig;
import dev.berth.config.ModelConfig;
import dev.berth.config.ServingConfig;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import picocli.CommandLine.ExitCode;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.PositionalParamSpec;
import picocli.CommandLine.ParseResult;

/// The `serve check` command: whether a model artifact can be served here, and how fast.
///
/// The report goes to stdout; problems and the log go to stderr, and problems end the process with
/// 1.
public final class CheckCommand implements Subcommand {

    private static final Logger log = LoggerFactory.getLogger(CheckCommand.class);

    @Override
    public String name() {
        return "check";
    }

    @Override
    public CommandSpec spec() {
        var spec = ServeOptions.with(ModelConfig.OF_ONE_MODEL);
        // The model is asked a request, too.
        ServeOptions.add(List.of(ServingConfig.TIMEOUT, HttpConfig.DEFAULT_ACCEPT, ServingConfig.BAD_RECORDS), spec);
        spec.addPositional(PositionalParamSpec.builder()
                .index("0")
                .arity("0..1")
                .type(String.class)
                .paramLabel("MODEL_DIR")
                .description("The model artifact; unset, the one that serve would take")
                .build());
        spec.usageMessage()
                .customSynopsis("serve check [option]... [MODEL_DIR]")
                .description(
                        "Loads a model artifact on the devices of this machine, asks it its sample.json and measures it.",
                        "The hooks have the classes, the content types and the time that they have in serve.",
                        "")
                .exitCodeListHeading("%nExit codes:%n")
                .exitCodeList(new TreeMap<>(Map.of(
                        "0", "serve would start and answer the sample; the report is on stdout",
                        "1", "it would not; stderr says why, one line for each problem",
                        "2", "an option or a setting is wrong; stderr names it")));
        return spec;
    }

    @Override
    public int run(Map<String, String> environment, Path home, ParseResult check) {
        // What was given before the name of this command counts too.
        var serve = check.commandSpec().parent().commandLine().getParseResult();
        var flags = new HashMap<>(ServeOptions.given(serve));
        flags.putAll(ServeOptions.given(check));
        if (flags.containsKey("--models")) {
            System.err.println("--models: found it before check, expected the directory of one artifact behind it");
            return ExitCode.USAGE;
        }
        String directory = check.matchedPositionalValue(0, null);
        if (directory != null) {
            if (!Files.isDirectory(Path.of(directory))) {
                System.err.printf("%s: found no such directory, expected a model artifact%n", directory);
                return ExitCode.SOFTWARE;
            }
            flags.put("--model-dir", directory);
        }
        try {
            Check.run(ServeOptions.ofOneModel(environment, flags, home)).forEach(System.out::println);
            return ExitCode.OK;
        } catch (ConfigurationException e) {
            e.problems().forEach(System.err::println);
            return ExitCode.USAGE;
        } catch (StartException e) {
            return failed(e.getMessage(), e);
        } catch (Exception | Error e) {
            return failed("the check can't go on: " + e, e);
        }
    }

    private static int failed(String message, Throwable e) {
        message.lines().forEach(System.err::println);
        log.debug("the check failed", e);
        return ExitCode.SOFTWARE;
    }
}
