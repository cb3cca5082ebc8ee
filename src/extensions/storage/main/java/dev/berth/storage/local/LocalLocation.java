package dev.berth.storage.local;

import dev.berth.storage.Location;
import dev.berth.storage.StorageException;
import dev.berth.storage.StoreKind;
import java.io.IOException;
import java.net.URI;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.util.Optional;

/// A file or a directory.
public record LocalLocation(Path path, String text) implements Location {

    /// @param text a URI of a file, or a path
    static LocalLocation of(String text) {
        if (text.isBlank()) {
            throw StoreKind.wrong(text, "nothing");
        }
        if (!text.startsWith("file:/")) {
            try {
                return new LocalLocation(Path.of(text), text);
            } catch (InvalidPathException e) {
                throw StoreKind.wrong(text, "no path (%s)".formatted(e.getReason()));
            }
        }
        try {
            return new LocalLocation(Path.of(URI.create(text)), text);
        } catch (IllegalArgumentException e) {
            throw StoreKind.wrong(text, "no URI of a file (%s)".formatted(e.getMessage()));
        }
    }

    @Override
    public LocalLocation resolve(String key) {
        for (var name : key.split("/", -1)) {
            if (name.isEmpty() || name.equals(".") || name.equals("..") || name.indexOf('\0') >= 0) {
                throw StorageException.permanent(
                        this, "found the key \"%s\", expected one whose parts can be names of files".formatted(key));
            }
        }
        return new LocalLocation(path.resolve(key), StoreKind.below(text, key));
    }

    @Override
    public boolean isListedIn(Location prefix) {
        return prefix instanceof LocalLocation(var directory, var _)
                && real(path).startsWith(real(directory));
    }

    /// What is not there yet has the real path of its directory.
    private static Path real(Path path) {
        var absolute = path.toAbsolutePath().normalize();
        try {
            return absolute.toRealPath();
        } catch (IOException _) {
            return absolute.getParent() == null
                    ? absolute
                    : real(absolute.getParent()).resolve(absolute.getFileName());
        }
    }

    @Override
    public Optional<Path> file() {
        return Optional.of(path);
    }

    @Override
    public String toString() {
        return text;
    }
}
