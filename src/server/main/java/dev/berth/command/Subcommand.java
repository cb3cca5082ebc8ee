package dev.berth.command;

import java.nio.file.Path;
import java.util.Map;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.ParseResult;

/// A command behind `serve`, such as `serve health`. [java.util.ServiceLoader] finds it; `--help`
/// lists such commands by their names.
///
/// [Commands] calls it on the main thread, once in a process: [#spec] where there is a command line
/// to read, and [#run] where this command was named. A plain `serve` does neither.
public interface Subcommand {

    /// Its name, which is written behind `serve`, its options and its help. An option that is wrong ends the
    /// process before [#run].
    CommandSpec spec();

    /// Runs the command to its end. A signal ends the process meanwhile.
    ///
    /// @param environment the variables of the process
    /// @param home the directory of the `serve` script
    /// @param parsed what was given behind the name
    /// @return the exit code: 0, 1 where it failed, 2 where it was told something wrong; stderr says why
    /// @throws dev.berth.config.ConfigurationException where settings are wrong, for 2
    /// @throws Exception why it failed, for 1. Its message alone is shown where it is a [StartException]
    int run(Map<String, String> environment, Path home, ParseResult parsed) throws Exception;
}
