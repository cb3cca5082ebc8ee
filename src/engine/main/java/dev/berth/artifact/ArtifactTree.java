package dev.berth.artifact;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.DirectoryIteratorException;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.ArrayDeque;
import java.util.HashSet;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.function.Predicate;

/// The files in an artifact and behind its links. Used by one thread.
///
/// Links may lead back or to each other, and then there are more paths than anyone can walk. So
/// each directory is entered once, by its own path rather than by a link, and there is a limit.
public final class ArtifactTree {

    private static final int MOST = 100_000;

    private final Path root;
    private final Predicate<Path> counts;
    private final int most;
    private final SortedMap<Path, BasicFileAttributes> files = new TreeMap<>();
    private final ArrayDeque<Path> directories = new ArrayDeque<>();

    /// As the file system knows them. KServe's modelcars have no real path here: `/proc/7/root/models`.
    private final Set<Object> entered = new HashSet<>();

    private ArtifactTree(Path root, Predicate<Path> counts, int most) {
        this.root = root;
        this.counts = counts;
        this.most = most;
    }

    /// All files but hidden ones, by their paths in the directory, with what a link leads to. Of a
    /// link to nothing they are its own. None where there is no such directory.
    ///
    /// @param counts asked of each file and directory, as a path in the directory
    /// @throws ModelArtifactException when there are too many
    /// @throws UncheckedIOException when a directory can't be read
    public static SortedMap<Path, BasicFileAttributes> files(Path directory, Predicate<Path> counts) {
        return files(directory, counts, MOST);
    }

    static SortedMap<Path, BasicFileAttributes> files(Path directory, Predicate<Path> counts, int most) {
        var tree = new ArtifactTree(directory, counts, most);
        if (Files.isDirectory(directory)) {
            tree.directories.add(directory);
        }
        while (!tree.directories.isEmpty()) {
            tree.enter(tree.directories.poll());
        }
        return tree.files;
    }

    private void enter(Path directory) {
        try {
            if (!entered.add(attributes(directory).fileKey())) {
                return;
            }
            try (var entries = Files.newDirectoryStream(directory)) {
                for (var entry : entries) {
                    add(entry);
                }
            }
        } catch (NoSuchFileException _) {
            // It has gone meanwhile.
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } catch (DirectoryIteratorException e) {
            throw new UncheckedIOException(e.getCause());
        }
    }

    private void add(Path entry) throws IOException {
        var name = root.relativize(entry);
        if (ArtifactFile.isHidden(entry.getFileName()) || !counts.test(name)) {
            return;
        }
        if (!Files.isDirectory(entry)) {
            try {
                files.put(name, attributes(entry));
            } catch (NoSuchFileException _) {
                // It has gone meanwhile.
            }
        } else if (Files.isSymbolicLink(entry)) {
            directories.addLast(entry);
        } else {
            directories.addFirst(entry);
        }
        if (files.size() + directories.size() + entered.size() > most) {
            throw new ModelArtifactException(
                    root,
                    "%s: found more than %d files, expected an artifact; do its links lead elsewhere?"
                            .formatted(name.getName(0), most));
        }
    }

    private static BasicFileAttributes attributes(Path file) throws IOException {
        try {
            return Files.readAttributes(file, BasicFileAttributes.class);
        } catch (FileSystemException _) {
            // A link to nothing, or to itself.
            return Files.readAttributes(file, BasicFileAttributes.class, LinkOption.NOFOLLOW_LINKS);
        }
    }
}
