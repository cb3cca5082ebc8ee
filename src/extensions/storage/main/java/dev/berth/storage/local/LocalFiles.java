package dev.berth.storage.local;

import dev.berth.storage.ObjectStore;
import dev.berth.storage.StoreKind;
import java.net.URI;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.util.Optional;
import java.util.function.Function;

/// Files and directories, by their paths or as `file:///path`.
public final class LocalFiles implements StoreKind {

    @Override
    public String scheme() {
        return "file";
    }

    @Override
    public String form() {
        return "file:///path";
    }

    @Override
    public ObjectStore open(Function<String, Optional<String>> given) {
        return text -> new LocalLocation(path(text), text);
    }

    private static Path path(String text) {
        if (text.isBlank()) {
            throw StoreKind.wrong(text, "nothing");
        }
        try {
            return text.startsWith("file:/") ? Path.of(URI.create(text)) : Path.of(text);
        } catch (InvalidPathException e) {
            throw StoreKind.wrong(text, "no path (%s)".formatted(e.getReason()));
        } catch (IllegalArgumentException e) {
            throw StoreKind.wrong(text, "no URI of a file (%s)".formatted(e.getMessage()));
        }
    }
}
