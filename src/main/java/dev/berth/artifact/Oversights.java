package dev.berth.artifact;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.stream.StreamSupport;

/// What an artifact has that is certainly not meant: the server goes on without it, and the log
/// says so.
public final class Oversights {

  /// Deeper ones are somebody's data.
  private static final int DEPTH = 4;

  /// What a build leaves behind.
  private static final Path BUILD = Path.of("target");

  private Oversights() {}

  /// One line for each, with what to do about it.
  public static List<String> in(Path directory) {
    if (!Files.isDirectory(directory)) {
      return List.of();
    }
    try (var files = Files.walk(directory, DEPTH)) {
      return files
          .filter(file -> !isSkipped(directory.relativize(file)))
          .sorted()
          .flatMap(file -> oversight(directory, file).stream())
          .toList();
    } catch (IOException | UncheckedIOException _) {
      // What can't be read is told by whoever needs it.
      return List.of();
    }
  }

  private static Optional<String> oversight(Path directory, Path file) {
    var name = directory.relativize(file);
    if (Files.isSymbolicLink(file) && !Files.exists(file)) {
      return Optional.of(
          "%s: found a link to nothing; tar -h packs what links lead to".formatted(name));
    }
    var parent = name.getParent();
    boolean isUsed = Path.of("code").equals(parent) || Path.of("code", "lib").equals(parent);
    return name.toString().endsWith(".jar") && !isUsed && !Files.isDirectory(file)
        ? Optional.of(
            "%s: found a jar that is not used here; put libraries into code/lib, and hooks into code"
                .formatted(name))
        : Optional.empty();
  }

  private static boolean isSkipped(Path file) {
    return ArtifactFile.isHidden(file)
        || StreamSupport.stream(file.spliterator(), false).anyMatch(BUILD::equals);
  }
}
