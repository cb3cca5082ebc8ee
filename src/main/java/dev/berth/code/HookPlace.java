package dev.berth.code;

import java.util.Arrays;
import java.util.Optional;
import java.util.stream.Stream;

/// Where in an artifact's own code something is, for messages.
public final class HookPlace {

  private HookPlace() {}

  /// The file of the artifact that a class comes from, such as `code/Inference.java`; nothing for the server's classes.
  public static Optional<String> file(Class<?> type) {
    return type.getClassLoader() instanceof HookClassLoader loader ? Optional.of(loader.file(type)) : Optional.empty();
  }

  /// ` at Inference.java:17`, the innermost line of the artifact's code that an exception has come through; empty where
  /// it has come through none.
  public static String of(Throwable thrown) {
    return Stream.iterate(thrown, cause -> cause != null, Throwable::getCause)
        .flatMap(cause -> Arrays.stream(cause.getStackTrace()))
        .filter(frame -> HookClassLoader.NAME.equals(frame.getClassLoaderName()))
        .findFirst()
        .map(frame -> " at %s:%d".formatted(frame.getFileName(), frame.getLineNumber()))
        .orElse("");
  }
}
