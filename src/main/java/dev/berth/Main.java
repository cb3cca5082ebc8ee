package dev.berth;

import dev.berth.command.Commands;
import java.nio.file.Path;

/// Where the process starts: the only place that reads the environment and ends the process.
///
/// Exit codes: 0 when stopped, after `--help` and after a check that found nothing wrong; 1 when the server can't start or
/// the check found problems; 2 when it was told something wrong.
public final class Main {

  private Main() {}

  public static void main(String[] args) {
    var home = Path.of(System.getProperty("berth.home", "."));
    System.exit(Commands.run(System.getenv(), home, args));
  }
}
