package dev.berth.storage.local;

import dev.berth.storage.Location;
import dev.berth.storage.ObjectWriter;
import dev.berth.storage.StorageException;
import java.io.BufferedOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.channels.Channels;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.DirectoryIteratorException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.util.UUID;

/// Writes a file in a hidden directory beside its place, `.NAME.berth-part`, flushes it to the disk
/// and renames it. What else is in that directory then is of writers that were killed or are slower,
/// and is removed: so one of several that write the same succeeds.
final class LocalWriter extends ObjectWriter {

    private static final int BUFFER_BYTES = 1 << 16;
    private static final int MOST_TRIES = 10;

    /// A file system takes 255 bytes.
    private static final int LONGEST_NAME = 200;

    private final Path target;
    private final Path temporary;
    private final FileChannel file;
    private final OutputStream out;

    private LocalWriter(Location location, Path target, Path temporary) throws IOException {
        super(location);
        this.target = target;
        this.temporary = temporary;
        this.file = FileChannel.open(temporary, StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE);
        this.out = new BufferedOutputStream(Channels.newOutputStream(file), BUFFER_BYTES);
    }

    /// @param target absolute
    static LocalWriter create(Location location, Path target) {
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
                return new LocalWriter(location, target, temporary(target));
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

    /// A new name in the directory of the target's writers.
    private static Path temporary(Path target) throws IOException {
        var name = target.getFileName().toString();
        var bytes = name.getBytes(StandardCharsets.UTF_8);
        var label = bytes.length <= LONGEST_NAME ? name : UUID.nameUUIDFromBytes(bytes);
        return Files.createDirectories(target.resolveSibling(".%s.berth-part".formatted(label)))
                .resolve(UUID.randomUUID().toString());
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
            throw StorageException.permanent(location, "can't be written: another writer of it was faster", e);
        } catch (IOException e) {
            throw LocalErrors.ofBytes(location, e);
        }
        flushDirectory();
        removeOthers();
    }

    /// What can't be removed is for the next writer to remove.
    private void removeOthers() {
        try (var left = Files.newDirectoryStream(temporary.getParent())) {
            for (var file : left) {
                Files.deleteIfExists(file);
            }
        } catch (IOException | DirectoryIteratorException _) {
            // As said above.
        }
        removeDirectory();
    }

    @Override
    protected void discard() {
        try {
            file.close();
            Files.deleteIfExists(temporary);
        } catch (IOException e) {
            throw LocalErrors.of(location, "removed", e);
        }
        removeDirectory();
    }

    /// Another writer may have begun, which needs it.
    private void removeDirectory() {
        try {
            Files.deleteIfExists(temporary.getParent());
        } catch (IOException _) {
            // As said above.
        }
    }

    /// So that the new name outlives a loss of power. Not every file system can; the file itself is
    /// safe.
    private void flushDirectory() {
        try (var directory = FileChannel.open(target.getParent(), StandardOpenOption.READ)) {
            directory.force(true);
        } catch (IOException _) {
            // As said above.
        }
    }
}
