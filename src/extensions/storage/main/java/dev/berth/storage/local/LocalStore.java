package dev.berth.storage.local;

import dev.berth.storage.Marker;
import dev.berth.storage.ObjectStore;
import dev.berth.storage.ObjectStream;
import dev.berth.storage.ObjectWriter;
import dev.berth.storage.StorageException;
import dev.berth.storage.StoredObject;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.DirectoryNotEmptyException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.BasicFileAttributes;
import java.time.Duration;
import java.time.Instant;
import java.util.Comparator;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.function.Predicate;
import java.util.stream.Stream;
import java.util.stream.StreamSupport;

/// Files and directories.
final class LocalStore implements ObjectStore<LocalLocation> {

    private final Leftovers leftovers = new Leftovers();

    @Override
    public Stream<StoredObject> list(LocalLocation location) {
        var path = location.path();
        if (Files.isRegularFile(path)) {
            return Stream.of(new StoredObject(
                    location, path.getFileName().toString(), size(location).orElseThrow()));
        }
        return StreamSupport.stream(new LocalListing(location), false);
    }

    @Override
    public OptionalLong size(LocalLocation location) {
        var path = location.path();
        try {
            return Files.isRegularFile(path) ? OptionalLong.of(Files.size(path)) : OptionalLong.empty();
        } catch (NoSuchFileException _) {
            // Another instance has removed it between the two looks.
            return OptionalLong.empty();
        } catch (IOException e) {
            throw LocalErrors.of(location, "read", e);
        }
    }

    @Override
    public ObjectStream open(LocalLocation location, long from) {
        return LocalErrors.naming(location, "read", () -> {
            requireFile(location);
            return new LocalReader(location, from);
        });
    }

    /// Opening a pipe waits for its writer, which may never come, and heeds no signal.
    private static void requireFile(LocalLocation location, LinkOption... options) throws IOException {
        var found = Files.readAttributes(location.path(), BasicFileAttributes.class, options);
        if (!found.isRegularFile()) {
            throw StorageException.permanent(
                    location,
                    "can't be read: found %s, expected a file"
                            .formatted(
                                    found.isDirectory()
                                            ? "a directory"
                                            : found.isSymbolicLink() ? "a link" : "a pipe, a socket or a device"));
        }
    }

    @Override
    public void delete(LocalLocation location) {
        delete(location, location.path());
    }

    private static void delete(LocalLocation location, Path file) {
        LocalErrors.naming(location, "removed", () -> Files.deleteIfExists(file));
    }

    @Override
    public void deleteAll(LocalLocation directory) {
        deleteAll(directory, _ -> true);
    }

    @Override
    public void deleteEmpty(LocalLocation directory) {
        deleteAll(directory, Files::isDirectory);
    }

    /// What is deepest goes first. Directories that have something in them then stay, and so does
    /// what others remove meanwhile.
    private static void deleteAll(LocalLocation directory, Predicate<Path> wanted) {
        if (!Files.isDirectory(directory.path())) {
            return;
        }
        try (var below = Files.walk(directory.path())) {
            for (var path :
                    below.filter(wanted).sorted(Comparator.reverseOrder()).toList()) {
                try {
                    Files.deleteIfExists(path);
                } catch (DirectoryNotEmptyException _) {
                    // As said above.
                }
            }
        } catch (NoSuchFileException _) {
            // Another instance has removed it.
        } catch (UncheckedIOException e) {
            if (!(e.getCause() instanceof NoSuchFileException)) {
                throw LocalErrors.of(directory, "removed", e.getCause());
            }
        } catch (IOException e) {
            throw LocalErrors.of(directory, "removed", e);
        }
    }

    @Override
    public ObjectWriter create(LocalLocation location, Optional<String> contentType) {
        return LocalWriter.create(location, leftovers);
    }

    @Override
    public void requireWritable(LocalLocation probe) {
        create(probe, Optional.empty()).close();
    }

    /// No marker is a link. One that leads to nothing would be there and not there.
    @Override
    public Optional<Marker> marker(LocalLocation location) {
        try {
            requireFile(location, LinkOption.NOFOLLOW_LINKS);
            var text = Files.readString(location.path());
            var written = Files.getLastModifiedTime(location.path()).toInstant();
            var age = Duration.between(
                    written, now(location.path().toAbsolutePath().getParent()));
            return Optional.of(new Marker(text, text, age.isNegative() ? Duration.ZERO : age));
        } catch (NoSuchFileException e) {
            return Optional.empty();
        } catch (IOException e) {
            throw LocalErrors.of(location, "read", e);
        }
    }

    /// A file server has a clock of its own.
    private static Instant now(Path directory) throws IOException {
        var file = Files.createTempFile(directory, ".berth-clock-", "");
        try {
            return Files.getLastModifiedTime(file).toInstant();
        } finally {
            Files.delete(file);
        }
    }

    @Override
    public boolean mark(LocalLocation location, String text) {
        try (var file = FileChannel.open(location.path(), StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE)) {
            write(file, text);
            return true;
        } catch (FileAlreadyExistsException e) {
            return false;
        } catch (IOException e) {
            throw LocalErrors.of(location, "written", e);
        }
    }

    /// In place, so that the file is there all the time.
    @Override
    public boolean renew(LocalLocation location, String text, Marker found) {
        if (marker(location)
                .filter(marker -> marker.text().equals(found.text()))
                .isEmpty()) {
            return false;
        }
        try (var file = FileChannel.open(location.path(), StandardOpenOption.WRITE)) {
            write(file, text);
            file.truncate(file.position());
            return true;
        } catch (NoSuchFileException e) {
            return false;
        } catch (IOException e) {
            throw LocalErrors.of(location, "written", e);
        }
    }

    /// Takes the file away, which only one can, and looks whether it was the right one. One that was
    /// written meanwhile is put back, unless yet another is there.
    @Override
    public boolean replace(LocalLocation location, String text, Marker found) {
        var away = Leftovers.temporary(location.path());
        try {
            Files.move(location.path(), away, StandardCopyOption.ATOMIC_MOVE);
            if (Files.readString(away).equals(found.text())) {
                Files.delete(away);
                return mark(location, text);
            }
            Files.move(away, location.path());
            return false;
        } catch (NoSuchFileException e) {
            return false;
        } catch (FileAlreadyExistsException e) {
            delete(location, away);
            return false;
        } catch (IOException e) {
            throw LocalErrors.of(location, "written", e);
        }
    }

    private static void write(FileChannel file, String text) throws IOException {
        var bytes = ByteBuffer.wrap(text.getBytes(StandardCharsets.UTF_8));
        while (bytes.hasRemaining()) {
            file.write(bytes);
        }
    }
}
