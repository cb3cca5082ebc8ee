package dev.berth.testing;

import java.io.IOException;
import java.nio.file.Path;

/// Named pipes, which Java can't make itself.
public final class Pipes {

    private Pipes() {}

    /// Makes a pipe that nobody writes to. Reading it never ends.
    public static void make(Path file) throws IOException, InterruptedException {
        int code = new ProcessBuilder("mkfifo", file.toString())
                .inheritIO()
                .start()
                .waitFor();
        if (code != 0) {
            throw new IOException("mkfifo %s ended with %d".formatted(file, code));
        }
    }
}
