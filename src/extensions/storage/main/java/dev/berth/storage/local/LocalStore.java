package dev.berth.storage.local;

import dev.berth.storage.Location;
import dev.berth.storage.ObjectStore;
import dev.berth.storage.StoreKind;
import java.net.URI;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;

/// Files and directories.
final class LocalStore implements ObjectStore {

    private final Leftovers leftovers = new Leftovers();

    @Override
    public Location at(String text) {
        if (text.isBlank()) {
            throw StoreKind.wrong(text, "nothing");
        }
        if (!text.startsWith("file:/")) {
            try {
                return new LocalLocation(leftovers, Path.of(text), text);
            } catch (InvalidPathException e) {
                throw StoreKind.wrong(text, "no path (%s)".formatted(e.getReason()));
            }
        }
        try {
            return new LocalLocation(leftovers, Path.of(URI.create(text)), text);
        } catch (IllegalArgumentException e) {
            throw StoreKind.wrong(text, "no URI of a file (%s)".formatted(e.getMessage()));
        }
    }
}
