package dev.berth.storage.local;

import dev.berth.storage.Location;
import dev.berth.storage.StorageException;
import dev.berth.storage.StoredObject;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.DirectoryIteratorException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.Deque;
import java.util.Iterator;
import java.util.List;
import java.util.Optional;
import java.util.Spliterators;
import java.util.function.Consumer;

/// The files of a directory tree, in the order of their keys. It holds the names in the directories
/// that it is within, and no directory open. One that is not there, or is gone meanwhile, has no files,
/// as in S3. Used by one thread.
final class LocalListing extends Spliterators.AbstractSpliterator<StoredObject> {

    /// That of S3. `String`'s own order differs where a character needs two chars.
    static final Comparator<String> KEY_ORDER =
            Comparator.comparing(key -> key.getBytes(StandardCharsets.UTF_8), Arrays::compareUnsigned);

    /// @param real free of symbolic links, by which a way back into it is known
    /// @param key of the directory with a slash, or empty
    /// @param names those of directories end in a slash, so that they stand where the keys of their
    ///   files do
    private record Directory(Path path, Path real, String key, Iterator<String> names) {}

    private final Location root;
    private final Deque<Directory> within = new ArrayDeque<>();

    /// Reads the names in the root directory.
    LocalListing(Location root, Path path) {
        super(Long.MAX_VALUE, ORDERED | NONNULL);
        this.root = root;
        enter(path, "");
    }

    @Override
    public boolean tryAdvance(Consumer<? super StoredObject> action) {
        while (!within.isEmpty()) {
            var directory = within.peek();
            if (!directory.names.hasNext()) {
                within.pop();
                continue;
            }
            var name = directory.names.next();
            if (name.endsWith("/")) {
                enter(directory.path.resolve(name), directory.key + name);
            } else {
                var object = file(directory.path.resolve(name), directory.key + name);
                if (object.isPresent()) {
                    action.accept(object.get());
                    return true;
                }
            }
        }
        return false;
    }

    private void enter(Path path, String key) {
        try {
            var real = path.toRealPath();
            if (within.stream().noneMatch(directory -> directory.real.equals(real))) {
                within.push(new Directory(path, real, key, names(path, key).iterator()));
            }
        } catch (NoSuchFileException _) {
            // As said above.
        } catch (IOException e) {
            throw LocalErrors.of(located(key), "listed", e);
        } catch (DirectoryIteratorException e) {
            throw LocalErrors.of(located(key), "listed", e.getCause());
        }
    }

    private List<String> names(Path path, String key) throws IOException {
        var names = new ArrayList<String>();
        try (var entries = Files.newDirectoryStream(path)) {
            for (var entry : entries) {
                var name = entry.getFileName().toString();
                if (name.startsWith(".")) {
                    continue;
                }
                if (!path.resolve(name).equals(entry)) {
                    throw StorageException.permanent(
                            located(key + name),
                            "found a name that is not %s, the encoding of this process. Rename the file, or set LC_ALL"
                                    .formatted(System.getProperty("sun.jnu.encoding")));
                }
                names.add(Files.isDirectory(entry) ? name + "/" : name);
            }
        }
        names.sort(KEY_ORDER);
        return names;
    }

    /// Nothing for pipes, sockets and devices.
    private Optional<StoredObject> file(Path path, String key) {
        try {
            var attributes = Files.readAttributes(path, BasicFileAttributes.class);
            return attributes.isRegularFile()
                    ? Optional.of(new StoredObject(located(key), key, attributes.size()))
                    : Optional.empty();
        } catch (NoSuchFileException e) {
            // A link to nothing, or a file that is gone meanwhile. Opening it says so.
            return Optional.of(new StoredObject(located(key), key, 0));
        } catch (IOException e) {
            throw LocalErrors.of(located(key), "read", e);
        }
    }

    private Location located(String key) {
        return key.isEmpty() ? root : root.resolve(key.endsWith("/") ? key.substring(0, key.length() - 1) : key);
    }
}
