package dev.berth.testing;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/// The files that this process has open.
public final class OpenFiles {

    private OpenFiles() {}

    public static List<Path> below(Path directory) throws IOException {
        try (var descriptors = Files.list(Path.of("/proc/self/fd"))) {
            return descriptors
                    .map(OpenFiles::target)
                    .filter(file -> file.startsWith(directory))
                    .toList();
        }
    }

    private static Path target(Path descriptor) {
        try {
            return Files.readSymbolicLink(descriptor);
        } catch (IOException e) {
            return Path.of("closed meanwhile");
        }
    }
}
