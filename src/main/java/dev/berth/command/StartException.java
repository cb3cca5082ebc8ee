package dev.berth.command;

import java.util.List;
import java.util.stream.Collectors;

/// The model can't be served; the message says why, one line for each problem, for whoever starts the server.
public final class StartException extends Exception {

  public StartException(String message, Throwable cause) {
    super(message, cause);
  }

  /// @param problems at least one; the message has theirs, each once
  StartException(List<? extends Exception> problems) {
    super(problems.stream().map(Exception::getMessage).distinct().collect(Collectors.joining("\n")), problems.getFirst());
    problems.stream().skip(1).forEach(this::addSuppressed);
  }
}
