package dev.berth;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import picocli.CommandLine;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.ParseResult;
import picocli.CommandLine.UnmatchedArgumentException;

/// Where the process starts: picks the command, and is the only one to read the environment and to end the process.
///
/// Exit codes: 0 when stopped or after `--help`; 1 when the server can't start; 2 when it was told something wrong.
public final class Main {

  private Main() {}

  public static void main(String[] args) {
    var home = Path.of(System.getProperty("berth.home", "."));
    System.exit(run(new ServeCommand(System.getenv(), home), withCommand(args)));
  }

  private static int run(ServeCommand serve, String[] args) {
    var commands = CommandSpec.create().name("berth").addSubcommand(ServeCommand.NAME, serve.spec());
    return new CommandLine(commands)
        .setParameterExceptionHandler(Main::explain)
        .setExecutionStrategy(parsed -> execute(serve, parsed))
        .execute(args);
  }

  private static int execute(ServeCommand serve, ParseResult parsed) {
    var helped = CommandLine.executeHelpRequest(parsed);
    return helped != null ? helped : serve.run(parsed.subcommand());
  }

  /// No command means `serve`, so that `./serve --port 9000` and `docker run IMAGE serve` agree.
  private static String[] withCommand(String[] args) {
    if (args.length > 0 && !args[0].startsWith("-")) {
      return args;
    }
    var named = new ArrayList<>(List.of(ServeCommand.NAME));
    named.addAll(Arrays.asList(args));
    return named.toArray(String[]::new);
  }

  private static int explain(ParameterException e, String[] args) {
    var err = e.getCommandLine().getErr();
    err.println(e.getMessage());
    UnmatchedArgumentException.printSuggestions(e, err);
    err.println("Try 'serve --help'.");
    err.flush();
    return CommandLine.ExitCode.USAGE;
  }
}
