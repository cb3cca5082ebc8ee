package dev.berth.memory;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/// Reads files of a model artifact that are needed as a whole, if the heap has room for them. A
/// sparse file may have any size without taking any of a disk.
public final class WholeFile {

    private WholeFile() {}

    /// @param share of the heap that the file may have: one in so many bytes
    /// @throws IOException also when it has more
    public static byte[] read(Path file, int share) throws IOException {
        long most = Runtime.getRuntime().maxMemory() / share;
        long size = Files.size(file);
        if (size > most) {
            throw new IOException(
                    "%s: found %d MB, expected at most %d MB; raise -Xmx in JAVA_OPTS if it has to be so large"
                            .formatted(file, size >> 20, most >> 20));
        }
        return Files.readAllBytes(file);
    }
}
