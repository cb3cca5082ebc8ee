package dev.berth.artifact;

import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.List;
import java.util.Optional;

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
        try {
            return ArtifactTree.files(directory, DEPTH, file -> !file.endsWith(BUILD)).entrySet().stream()
                    .flatMap(file -> oversight(file.getKey(), file.getValue()).stream())
                    .toList();
        } catch (ModelArtifactException | UncheckedIOException _) {
            // What can't be read is told by whoever needs it.
            return List.of();
        }
    }

    private static Optional<String> oversight(Path name, BasicFileAttributes attributes) {
        if (attributes.isSymbolicLink()) {
            return Optional.of("%s: found a link to nothing; tar -h packs what links lead to".formatted(name));
        }
        var parent = name.getParent();
        boolean isUsed =
                Path.of("code").equals(parent) || Path.of("code", "lib").equals(parent);
        return name.toString().endsWith(".jar") && !isUsed
                ? Optional.of("%s: found a jar that is not used here; put libraries into code/lib, and hooks into code"
                        .formatted(name))
                : Optional.empty();
    }
}
