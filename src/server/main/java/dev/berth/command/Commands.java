package dev.berth.command;

import static java.util.function.Function.identity;

import com.sun.management.UnixOperatingSystemMXBean;
import dev.berth.artifact.code.Thrown;
import dev.berth.config.ConfigurationException;
import dev.berth.config.ModelConfig;
import dev.berth.config.Platform;
import dev.berth.content.Slips;
import java.io.PrintStream;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Comparator;
import java.util.Map;
import java.util.Optional;
import java.util.ServiceLoader;
import java.util.concurrent.Callable;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.slf4j.LoggerFactory;
import picocli.CommandLine;
import picocli.CommandLine.ExitCode;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.UnmatchedArgumentException;

/// The command line: picks the command and runs it on the calling thread.
public final class Commands {

    /// Of the jars, and a few for clients. Hooks that are compiled need as many again.
    private static final int FEWEST_FILES = 160;

    /// How many characters of an option or a command may be wrong for the right one to be named.
    private static final int SLIP = 3;

    private Commands() {}

    /// @param home the directory of the `serve` script
    /// @param stop withdrawn by the commands that end with 143 when they are told to stop
    /// @return the exit code
    public static int run(Map<String, String> environment, Path home, OrderlyStop stop, String[] arguments) {
        if (ManagementFactory.getOperatingSystemMXBean() instanceof UnixOperatingSystemMXBean system
                && system.getMaxFileDescriptorCount() < FEWEST_FILES) {
            System.err.printf(
                    "open files: found a limit of %d, expected %d or more, because each jar is one; raise it with ulimit -n, or docker run --ulimit nofile=1024%n",
                    system.getMaxFileDescriptorCount(), FEWEST_FILES);
            return ExitCode.SOFTWARE;
        }
        var args = withoutServe(arguments);
        // As the platform starts it: without what reads a command line, which takes a tenth of a second
        // to load.
        if (args.length == 0) {
            // `docker run IMAGE`, where nothing is mounted, shows the sample. Platforms say `serve`:
            // there a missing model is an error.
            var flags = arguments.length == 0
                    ? ModelConfig.flagsOfTheSample(new Platform(environment, home))
                    : Map.<String, String>of();
            return new ServeCommand(environment, home, stop).run(flags);
        }
        if (args.length == 1 && args[0].equals(HealthCommand.NAME)) {
            return run(() -> HealthCommand.run(environment, Map.of()), System.err);
        }
        var commands = ServiceLoader.load(Subcommand.class).stream()
                .map(ServiceLoader.Provider::get)
                .collect(Collectors.toMap(Subcommand::spec, identity()));
        var serve = ServeCommand.spec().name(ServeCommand.NAME);
        commands.keySet().stream()
                .sorted(Comparator.comparing(CommandSpec::name))
                .forEach(command -> serve.addSubcommand(command.name(), command));
        return new CommandLine(serve)
                .setParameterExceptionHandler(Commands::explain)
                .setExecutionStrategy(parsed -> {
                    var helped = CommandLine.executeHelpRequest(parsed);
                    if (helped != null) {
                        return helped;
                    }
                    if (!parsed.hasSubcommand()) {
                        return new ServeCommand(environment, home, stop).run(ServeOptions.given(parsed));
                    }
                    stop.withdraw();
                    var command = parsed.subcommand();
                    return run(() -> commands.get(command.commandSpec()).run(environment, home, command), System.err);
                })
                .execute(args);
    }

    /// Says why a command fails, one line for each problem.
    static int run(Callable<Integer> command, PrintStream err) {
        try {
            return command.call();
        } catch (ConfigurationException e) {
            e.problems().forEach(err::println);
            return ExitCode.USAGE;
        } catch (Exception | Error e) {
            var why = e instanceof StartException ? e.getMessage() : "the command can't go on: " + Thrown.of(e);
            why.lines().forEach(err::println);
            LoggerFactory.getLogger(Commands.class).debug("the command failed", e);
            return ExitCode.SOFTWARE;
        }
    }

    /// SageMaker runs the image with the argument `serve`; the launcher is that already.
    private static String[] withoutServe(String[] args) {
        return args.length > 0 && args[0].equals(ServeCommand.NAME) ? Arrays.copyOfRange(args, 1, args.length) : args;
    }

    private static int explain(ParameterException e, String[] args) {
        var err = e.getCommandLine().getErr();
        err.println(e.getMessage());
        if (e instanceof UnmatchedArgumentException unmatched) {
            meant(unmatched.getUnmatched().getFirst(), e.getCommandLine().getCommandSpec())
                    .ifPresent(meant -> err.println("Did you mean: %s?".formatted(meant)));
        }
        err.println(
                "Try '%s --help'.".formatted(e.getCommandLine().getCommandSpec().qualifiedName()));
        err.flush();
        return ExitCode.USAGE;
    }

    private static Optional<String> meant(String argument, CommandSpec command) {
        if (Files.isDirectory(Path.of(argument))) {
            return Optional.of("--model-dir " + argument);
        }
        return Slips.nearest(
                argument,
                Stream.concat(command.optionsMap().keySet().stream(), command.subcommands().keySet().stream()),
                Math.min(SLIP, argument.length() / 3));
    }
}
