package dev.berth.artifact.code;

import java.util.Arrays;
import java.util.Optional;

/// Where in an artifact's own code something is, for messages.
public final class HookPlace {

  private HookPlace() {}

  /// The file of the artifact that a class comes from, such as `code/Inference.java`; nothing for
  /// the server's classes.
  public static Optional<String> file(Class<?> type) {
    return type.getClassLoader() instanceof HookClassLoader loader
        ? loader.shownFile(type.getName())
        : Optional.empty();
  }

  /// ` at Inference.java:17`, the line of the artifact's code that threw or passed on an exception;
  /// empty where it has come through none.
  public static String of(Throwable thrown) {
    return Thrown.chain(thrown)
        .flatMap(cause -> Arrays.stream(cause.getStackTrace()))
        .filter(frame -> HookClassLoader.NAME.equals(frame.getClassLoaderName()))
        .findFirst()
        .map(frame -> " at " + shown(frame))
        .orElse("");
  }

  /// Jars may have been compiled without the names of files, or without lines.
  private static String shown(StackTraceElement frame) {
    var file = frame.getFileName();
    if (file == null) {
      return "%s.%s".formatted(frame.getClassName(), frame.getMethodName());
    }
    return frame.getLineNumber() < 0 ? file : "%s:%d".formatted(file, frame.getLineNumber());
  }
}
