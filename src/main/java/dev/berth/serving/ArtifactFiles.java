package dev.berth.serving;

import dev.berth.artifact.ArtifactFile;
import java.io.IOException;
import java.nio.file.FileVisitOption;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.attribute.BasicFileAttributes;
import java.nio.file.attribute.FileTime;
import java.util.EnumSet;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.function.Predicate;

/// The files of an artifact when somebody looked. Two looks are equal where nothing has changed
/// between them.
///
/// @param place the directory itself, behind links
/// @param problem why they could not all be seen
record ArtifactFiles(Optional<Path> place, Map<Path, Stamp> stamps, Optional<String> problem) {

  /// What changes with a file.
  ///
  /// @param key tells a file from another one that was put in its place; null where the file system
  ///   has no such thing
  record Stamp(long size, FileTime modified, Object key) {}

  /// Looks at the directory and all that is below, behind links too. Reads no file. Hidden ones
  /// count for nothing: macOS writes some while somebody looks.
  static ArtifactFiles in(Path directory) {
    return in(directory, file -> !ArtifactFile.isHidden(file.getFileName()));
  }

  /// The same while somebody edits there. What editors and Maven write besides counts for nothing.
  static ArtifactFiles edited(Path directory) {
    return in(
        directory,
        file ->
            !ArtifactFile.isHidden(file.getFileName())
                && !file.toString().endsWith("~")
                && !file.equals(directory.resolve("target")));
  }

  private static ArtifactFiles in(Path directory, Predicate<Path> counts) {
    var stamps = new HashMap<Path, Stamp>();
    try {
      Files.walkFileTree(
          directory,
          EnumSet.of(FileVisitOption.FOLLOW_LINKS),
          Integer.MAX_VALUE,
          new SimpleFileVisitor<>() {
            @Override
            public FileVisitResult preVisitDirectory(Path below, BasicFileAttributes attributes) {
              return below.equals(directory) || counts.test(below)
                  ? FileVisitResult.CONTINUE
                  : FileVisitResult.SKIP_SUBTREE;
            }

            @Override
            public FileVisitResult visitFile(Path file, BasicFileAttributes attributes) {
              if (!counts.test(file)) {
                return FileVisitResult.CONTINUE;
              }
              stamps.put(
                  directory.relativize(file),
                  new Stamp(
                      attributes.size(), attributes.lastModifiedTime(), attributes.fileKey()));
              return FileVisitResult.CONTINUE;
            }
          });
      return new ArtifactFiles(
          Optional.of(directory.toRealPath()), Map.copyOf(stamps), Optional.empty());
    } catch (IOException e) {
      return new ArtifactFiles(Optional.empty(), Map.of(), Optional.of(e.toString()));
    }
  }
}
