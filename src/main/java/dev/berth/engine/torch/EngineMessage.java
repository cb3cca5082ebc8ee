package dev.berth.engine.torch;

/// The useful line of an engine's message, which is a TorchScript traceback of many kilobytes.
final class EngineMessage {

  private static final int MAX_LENGTH = 500;

  private EngineMessage() {}

  /// The same of the first cause of all.
  static String ofCause(Throwable e) {
    return e.getCause() == null ? of(e) : ofCause(e.getCause());
  }

  /// The last line that names an error, else the first that says anything.
  static String of(Throwable e) {
    var lines =
        String.valueOf(e.getMessage())
            .lines()
            .map(String::strip)
            .filter(line -> !line.isEmpty())
            .toList();
    var line =
        lines.reversed().stream()
            .filter(l -> l.contains("Error:") || l.contains("error:") || l.contains("memory"))
            .findFirst()
            .orElse(
                lines.isEmpty()
                    ? e.getClass().getSimpleName()
                    : lines.getFirst().replaceFirst(":$", ""));
    return line.length() <= MAX_LENGTH ? line : line.substring(0, MAX_LENGTH) + "…";
  }
}
