package dev.berth.artifact.code;

import java.util.stream.Stream;

/// What to do about a class that hooks need and that nobody has.
public final class MissingClass {

  /// Causes may go round in a circle.
  private static final int MOST_CAUSES = 20;

  private MissingClass() {}

  /// The end of a message; empty where no class is missing. Of a class whose own start has failed,
  /// that failure was told.
  public static String cure(Throwable thrown) {
    return Stream.iterate(thrown, cause -> cause != null, Throwable::getCause)
        .limit(MOST_CAUSES)
        .filter(
            missing ->
                missing instanceof NoClassDefFoundError
                    || missing instanceof ClassNotFoundException)
        .filter(
            missing ->
                !String.valueOf(missing.getMessage()).startsWith("Could not initialize class"))
        .findFirst()
        .map(missing -> "; put the jar that has this class into code/lib")
        .orElse("");
  }
}
