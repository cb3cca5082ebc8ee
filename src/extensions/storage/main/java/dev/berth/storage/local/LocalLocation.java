package dev.berth.storage.local;

import dev.berth.storage.Location;
import dev.berth.storage.Marker;
import dev.berth.storage.ObjectStream;
import dev.berth.storage.ObjectWriter;
import dev.berth.storage.StorageException;
import dev.berth.storage.StoreKind;
import dev.berth.storage.StoredObject;
import java.io.IOException;
import java.io.UncheckedIOException;
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
import java.util.UUID;
import java.util.function.Predicate;
import java.util.stream.Stream;
import java.util.stream.StreamSupport;

/// A file or a directory.
///
/// @param path of the default file system, unless a test has another one
public record LocalLocation(Path path, String text) implements Location {

    @Override
    public LocalLocation resolve(String key) {
        for (var name : key.split("/", -1)) {
            if (name.isEmpty() || name.equals(".") || name.equals("..") || name.indexOf('\0') >= 0) {
                throw StorageException.permanent(
                        this, "found the key \"%s\", expected one whose parts can be names of files".formatted(key));
            }
        }
        return new LocalLocation(path.resolve(key), StoreKind.below(text, key));
    }

    @Override
    public boolean isListedIn(Location prefix) {
        return prefix instanceof LocalLocation(var directory, var _)
                && real(path).startsWith(real(directory));
    }

    /// What is not there yet has the real path of the nearest directory that is.
    private static Path real(Path path) {
        var absolute = path.toAbsolutePath();
        var rest = absolute.getFileSystem().getPath("");
        for (var there = absolute; there.getParent() != null; there = there.getParent()) {
            try {
                // Not normalized before: behind a link `..` leads elsewhere.
                return there.toRealPath().resolve(rest).normalize();
            } catch (IOException _) {
                rest = there.getFileName().resolve(rest);
            }
        }
        return absolute.normalize();
    }

    @Override
    public Optional<Path> file() {
        return Optional.of(path);
    }

    @Override
    public String toString() {
        return text;
    }

    @Override
    public Stream<StoredObject> list() {
        if (Files.isRegularFile(path)) {
            return Stream.of(new StoredObject(this, path.getFileName().toString(), size().orElseThrow()));
        }
        return StreamSupport.stream(new LocalListing(this, path), false);
    }

    @Override
    public OptionalLong size() {
        try {
            return Files.isRegularFile(path) ? OptionalLong.of(Files.size(path)) : OptionalLong.empty();
        } catch (NoSuchFileException _) {
            // Another instance has removed it between the two looks.
            return OptionalLong.empty();
        } catch (IOException e) {
            throw LocalErrors.of(this, "read", e);
        }
    }

    @Override
    public ObjectStream open(long from) {
        return LocalErrors.naming(this, "read", () -> {
            requireFile();
            return new LocalReader(this, path, from);
        });
    }

    /// Opening a pipe waits for its writer, which may never come, and heeds no signal.
    private void requireFile(LinkOption... options) throws IOException {
        var found = Files.readAttributes(path, BasicFileAttributes.class, options);
        if (!found.isRegularFile()) {
            throw StorageException.permanent(
                    this,
                    "can't be read: found %s, expected a file"
                            .formatted(
                                    found.isDirectory()
                                            ? "a directory"
                                            : found.isSymbolicLink() ? "a link" : "a pipe, a socket or a device"));
        }
    }

    @Override
    public void delete() {
        delete(path);
    }

    private void delete(Path file) {
        LocalErrors.naming(this, "removed", () -> Files.deleteIfExists(file));
    }

    @Override
    public void deleteAll() {
        deleteAll(_ -> true);
    }

    @Override
    public void deleteEmpty() {
        deleteAll(Files::isDirectory);
    }

    /// What is deepest goes first. Directories that have something in them then stay, and so does
    /// what others remove meanwhile.
    private void deleteAll(Predicate<Path> wanted) {
        if (!Files.isDirectory(path)) {
            return;
        }
        try (var below = Files.walk(path)) {
            for (var each :
                    below.filter(wanted).sorted(Comparator.reverseOrder()).toList()) {
                try {
                    Files.deleteIfExists(each);
                } catch (DirectoryNotEmptyException _) {
                    // As said above.
                }
            }
        } catch (IOException | UncheckedIOException e) {
            var cause = e instanceof UncheckedIOException unchecked ? unchecked.getCause() : (IOException) e;
            // Another instance may have removed it.
            if (!(cause instanceof NoSuchFileException)) {
                throw LocalErrors.of(this, "removed", cause);
            }
        }
    }

    @Override
    public ObjectWriter create(Optional<String> contentType) {
        return LocalWriter.create(this, path.toAbsolutePath());
    }

    /// No marker is a link. One that leads to nothing would be there and not there.
    @Override
    public Optional<Marker> marker() {
        try {
            requireFile(LinkOption.NOFOLLOW_LINKS);
            var text = Files.readString(path);
            var written = Files.getLastModifiedTime(path).toInstant();
            var age = Duration.between(written, now(path.toAbsolutePath().getParent()));
            return Optional.of(new Marker(text, text, age.isNegative() ? Duration.ZERO : age));
        } catch (NoSuchFileException e) {
            return Optional.empty();
        } catch (IOException e) {
            throw LocalErrors.of(this, "read", e);
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

    /// Renames one over the other, so that the file is there all the time.
    @Override
    public boolean renew(String text, Marker found) {
        if (marker().filter(marker -> marker.text().equals(found.text())).isEmpty()) {
            return false;
        }
        try (var out = create()) {
            out.write(text.getBytes(StandardCharsets.UTF_8));
            out.commit();
            return true;
        }
    }

    /// Takes the file that was found away, which only one can, and looks whether it was the right one. One
    /// that was written meanwhile is put back, unless yet another is there.
    @Override
    public boolean mark(String text, Optional<Marker> found) {
        var away = path.resolveSibling(".%s-%s".formatted(path.getFileName(), UUID.randomUUID()));
        try {
            if (found.isPresent()) {
                Files.move(path, away, StandardCopyOption.ATOMIC_MOVE);
                if (!Files.readString(away).equals(found.get().text())) {
                    Files.move(away, path);
                    return false;
                }
                Files.delete(away);
            }
            Files.writeString(path, text, StandardOpenOption.CREATE_NEW);
            return true;
        } catch (FileAlreadyExistsException e) {
            delete(away);
            return false;
        } catch (NoSuchFileException e) {
            if (found.isPresent()) {
                return false;
            }
            throw LocalErrors.of(this, "written", e);
        } catch (IOException e) {
            throw LocalErrors.of(this, "written", e);
        }
    }
}
