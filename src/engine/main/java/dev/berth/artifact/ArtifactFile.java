package dev.berth.artifact;

import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.util.Optional;
import java.util.stream.StreamSupport;

/// What a file of a model artifact must be: a regular file, or a link to one. Reading a pipe or a
/// device may never end.
public final class ArtifactFile {

    private ArtifactFile() {}

    /// Why it can't be read, such as `not found`; nothing where it can.
    public static Optional<String> problem(Path file) {
        if (!Files.exists(file)) {
            return Optional.of(
                    Files.exists(file, LinkOption.NOFOLLOW_LINKS)
                            ? "found a link to nothing, expected a regular file; tar -h packs what links lead to"
                            : "not found");
        }
        if (!Files.isRegularFile(file)) {
            return Optional.of("found a %s, expected a regular file"
                    .formatted(Files.isDirectory(file) ? "directory" : "pipe, socket or device"));
        }
        return Files.isReadable(file)
                ? Optional.empty()
                : Optional.of("found a file that this user may not read; chmod a+r it");
    }

    /// Whether a file is none of its author's, by its name or a directory's: what macOS, ZIPs of a Mac
    /// and notebooks put beside it, such as `.DS_Store` and `__MACOSX`.
    ///
    /// @param file relative to what is listed
    public static boolean isHidden(Path file) {
        return StreamSupport.stream(file.spliterator(), false)
                .map(Path::toString)
                .anyMatch(name -> name.startsWith(".") || name.equals("__MACOSX"));
    }

    /// Whether there is something under this name. It may be anything.
    public static boolean isThere(Path file) {
        return Files.exists(file, LinkOption.NOFOLLOW_LINKS);
    }
}
