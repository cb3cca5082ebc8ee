package dev.berth.http.body;

import dev.berth.error.ErrorType;
import dev.berth.error.ServingException;
import dev.berth.memory.MemoryBudget;
import java.io.File;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.file.Files;
import java.util.Optional;

/// A body that is too long for memory, in a temporary file: written to its end, then read. The file
/// has no name any more, so nothing is left of it where the process is killed. Used by one thread at
/// a time; any thread may close it.
final class BodyFile extends BlockStream {

    /// All bodies together take half of what the disk has free when the first one comes.
    private static final MemoryBudget DISK =
            new MemoryBudget(Math.max(1, new File(System.getProperty("java.io.tmpdir")).getUsableSpace() / 2));

    private static final long STEP = 1 << 20;

    private final RandomAccessFile file;
    private final MemoryBudget.Share disk = DISK.share();

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

    /// @throws ServingException `MEMORY_TAKEN` where the disk has no room
    void write(byte[] bytes, int offset, int length) {
        try {
            long end = file.getFilePointer() + length;
            if (!disk.tryGrowTo(Math.ceilDiv(end, STEP) * STEP)) {
                throw new IOException("other bodies have too much of it");
            }
            file.write(bytes, offset, length);
        } catch (IOException e) {
            throw ErrorType.MEMORY_TAKEN.because("the disk has no room for the body; try again later", e);
        }
    }

    /// What is read next is the first byte.
    void rewind() throws IOException {
        file.seek(0);
    }

    /// How many bytes have not been read.
    long left() throws IOException {
        return file.length() - file.getFilePointer();
    }

    /// All that has not been read.
    byte[] rest() throws IOException {
        var rest = new byte[Math.toIntExact(left())];
        file.readFully(rest);
        return rest;
    }

    @Override
    public int read(byte[] bytes, int offset, int length) throws IOException {
        return file.read(bytes, offset, length);
    }

    @Override
    public void close() throws IOException {
        disk.close();
        file.close();
    }
}
