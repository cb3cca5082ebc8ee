package dev.berth.serving.many;

import dev.berth.artifact.ArtifactTree;
import dev.berth.artifact.ModelArtifactException;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.function.Predicate;

/// The files of an artifact when somebody looked. Two looks are equal where nothing has changed
/// between them.
///
/// @param place the directory itself, behind links; empty where not all of it can be seen
record ArtifactFiles(Optional<Path> place, Map<Path, Stamp> stamps) {

    /// What changes with a file.
    ///
    /// @param key tells a file from another one that was put in its place; null where the file system
    ///   has no such thing
    record Stamp(long size, FileTime modified, Object key) {}

    private static final Path BUILD = Path.of("target");

    /// Looks at the directory and all that is below, behind links too. Reads no file. Hidden ones
    /// count for nothing: macOS writes some while somebody looks.
    static ArtifactFiles in(Path directory) {
        return in(directory, _ -> true);
    }

    /// The same while somebody edits there. What editors and Maven write besides counts for nothing.
    static ArtifactFiles edited(Path directory) {
        return in(directory, file -> !file.toString().endsWith("~") && !file.equals(BUILD));
    }

    private static ArtifactFiles in(Path directory, Predicate<Path> counts) {
        try {
            var stamps = new HashMap<Path, Stamp>();
            ArtifactTree.files(directory, counts)
                    .forEach((file, found) ->
                            stamps.put(file, new Stamp(found.size(), found.lastModifiedTime(), found.fileKey())));
            return new ArtifactFiles(Optional.of(directory.toRealPath()), Map.copyOf(stamps));
        } catch (IOException | UncheckedIOException | ModelArtifactException _) {
            return new ArtifactFiles(Optional.empty(), Map.of());
        }
    }
}
