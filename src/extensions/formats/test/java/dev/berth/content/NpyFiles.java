package dev.berth.content;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;

/// Files that NumPy made; `make.py` beside them says how.
public final class NpyFiles {

    private NpyFiles() {}

    public static byte[] read(String name) {
        try {
            return Files.readAllBytes(Path.of("src/test/resources/npy", name));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
