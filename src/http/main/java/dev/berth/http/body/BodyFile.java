package dev.berth.http.body;

import dev.berth.error.ErrorType;
import dev.berth.error.ServingException;
import java.io.File;
import java.io.FileInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.RandomAccessFile;
import java.nio.file.Files;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicLong;

/// A body that is too long for memory, in a temporary file: written to its end, then read. The file
/// has no name any more, so nothing is left of it where the process is killed. Used by one thread at
/// a time; any thread may close it.
final class BodyFile implements AutoCloseable {

    private static final File DIRECTORY = new File(System.getProperty("java.io.tmpdir"));

    /// The bytes of all bodies.
    private static final AtomicLong ALL = new AtomicLong();

    private final RandomAccessFile file;
    private final AtomicLong written = new AtomicLong();

    private BodyFile(RandomAccessFile file) {
        this.file = file;
    }

    /// Nothing where no file can be made.
    static Optional<BodyFile> create() {
        try {
            var path = Files.createTempFile("berth-body-", null);
            try {
                return Optional.of(new BodyFile(new RandomAccessFile(path.toFile(), "rw")));
            } finally {
                Files.delete(path);
            }
        } catch (IOException _) {
            return Optional.empty();
        }
    }

    /// All bodies together leave as much of the disk free as they take.
    ///
    /// @throws ServingException `MEMORY_TAKEN` where the disk has no room, `PAYLOAD_TOO_LARGE` where it
    ///   never will have
    void write(byte[] bytes, int length) {
        try {
            written.addAndGet(length);
            if (ALL.addAndGet(length) > DIRECTORY.getUsableSpace()) {
                throw new IOException("bodies have too much of it");
            }
            file.write(bytes, 0, length);
        } catch (IOException e) {
            long most = DIRECTORY.getTotalSpace() / 2;
            if (written.get() > most) {
                throw ErrorType.PAYLOAD_TOO_LARGE.because(
                        "body: found more than %d MB, expected at most half of the disk at %s; mount a larger one at /tmp"
                                .formatted(most >> 20, DIRECTORY),
                        e);
            }
            throw ErrorType.MEMORY_TAKEN.because(
                    "the disk at %s has no room for the body; try again later, or mount a larger one at /tmp"
                            .formatted(DIRECTORY),
                    e);
        }
    }

    /// What was written, from its first byte.
    InputStream open() throws IOException {
        file.seek(0);
        return new FileInputStream(file.getFD());
    }

    @Override
    public void close() throws IOException {
        ALL.addAndGet(-written.getAndSet(0));
        file.close();
    }
}
