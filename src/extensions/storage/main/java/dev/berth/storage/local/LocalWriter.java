package dev.berth.storage.local;

import dev.berth.storage.Location;
import dev.berth.storage.ObjectWriter;
import dev.berth.storage.StorageException;
import java.io.BufferedOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.channels.Channels;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;

/// Writes a file under a temporary name beside its own, flushes it to the disk and renames it.
final class LocalWriter extends ObjectWriter {

    private static final int BUFFER_BYTES = 1 << 16;
    private static final int MOST_TRIES = 10;

    private final Path target;
    private final Path temporary;
    private final FileChannel file;
    private final OutputStream out;

    private LocalWriter(Location location, Path target, Path temporary, FileChannel file) {
        super(location);
        this.target = target;
        this.temporary = temporary;
        this.file = file;
        this.out = new BufferedOutputStream(Channels.newOutputStream(file), BUFFER_BYTES);
    }

    /// @param target absolute
    static LocalWriter create(Location location, Path target, Leftovers leftovers) {
        if (Files.isDirectory(target)) {
            throw StorageException.permanent(
                    location, "can't be written: found a directory, expected a file or nothing");
        }
        for (var parent = target.getParent(); parent != null; parent = parent.getParent()) {
            if (Files.exists(parent) && !Files.isDirectory(parent)) {
                throw StorageException.permanent(
                        location, "can't be written: found a file at %s, expected a directory".formatted(parent));
            }
        }
        for (int tries = 1; ; tries++) {
            try {
                Files.createDirectories(target.getParent());
                leftovers.remove(target);
                var temporary = Leftovers.temporary(target);
                return new LocalWriter(
                        location,
                        target,
                        temporary,
                        FileChannel.open(temporary, StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE));
            } catch (NoSuchFileException e) {
                // Another process may have removed the directory while it was empty.
                if (tries == MOST_TRIES) {
                    throw LocalErrors.of(location, "written", e);
                }
            } catch (IOException e) {
                throw LocalErrors.of(location, "written", e);
            }
        }
    }

    @Override
    protected void append(byte[] bytes, int offset, int length) {
        try {
            out.write(bytes, offset, length);
        } catch (IOException e) {
            throw LocalErrors.ofBytes(location, e);
        }
    }

    @Override
    protected void publish() {
        try {
            out.flush();
            file.force(true);
            file.close();
            Files.move(temporary, target, StandardCopyOption.ATOMIC_MOVE);
        } catch (NoSuchFileException e) {
            throw StorageException.permanent(location, "can't be written: another writer of it has begun meanwhile", e);
        } catch (IOException e) {
            throw LocalErrors.ofBytes(location, e);
        }
        flushDirectory();
    }

    @Override
    protected void discard() {
        try {
            file.close();
            Files.deleteIfExists(temporary);
        } catch (IOException e) {
            throw LocalErrors.of(location, "removed", e);
        }
    }

    /// So that the new name outlives a loss of power. Not every file system can; the file itself is
    /// safe.
    private void flushDirectory() {
        try (var directory = FileChannel.open(temporary.getParent(), StandardOpenOption.READ)) {
            directory.force(true);
        } catch (IOException e) {
            // As said above.
        }
    }
}
