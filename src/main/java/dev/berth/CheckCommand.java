package dev.berth;

import dev.berth.config.Configuration;
import dev.berth.config.ConfigurationException;
import dev.berth.config.Settings;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import picocli.CommandLine.ExitCode;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.PositionalParamSpec;
import picocli.CommandLine.ParseResult;

/// The `serve check` command: whether a model artifact can be served here, and how fast.
///
/// The report goes to stdout; problems go to stderr, one a line, and end the process with 1.
final class CheckCommand {

  static final String NAME = "check";

  private static final Logger log = LoggerFactory.getLogger(CheckCommand.class);

  private final Map<String, String> environment;
  private final Path home;

  CheckCommand(Map<String, String> environment, Path home) {
    this.environment = Map.copyOf(environment);
    this.home = home;
  }

  static CommandSpec spec() {
    var spec = ServeOptions.add(CommandSpec.create().mixinStandardHelpOptions(true), Settings.OF_THE_MODEL);
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
            "Ends with 0, or with 1 and every problem that was found.",
            "");
    return spec;
  }

  int run(ParseResult parsed) {
    try {
      var flags = new HashMap<>(ServeOptions.given(parsed));
      String directory = parsed.matchedPositionalValue(0, null);
      if (directory != null) {
        flags.put("--model-dir", directory);
      }
      var config = Configuration.read(quiet(environment), flags, home).config();
      Logging.configure(config.log());
      Check.run(config).forEach(System.out::println);
      return ExitCode.OK;
    } catch (ConfigurationException e) {
      e.problems().forEach(System.err::println);
    } catch (StartException e) {
      e.getMessage().lines().forEach(System.err::println);
      log.debug("the check failed", e);
    }
    return ExitCode.SOFTWARE;
  }

  /// Only what needs attention is logged beside the report, unless somebody wants more.
  private static Map<String, String> quiet(Map<String, String> environment) {
    var quiet = new HashMap<>(environment);
    quiet.putIfAbsent("SAGEMAKER_CONTAINER_LOG_LEVEL", "WARN");
    return quiet;
  }
}
