package dev.berth.storage;

import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.stream.Stream;

/// Where an object is, or the objects whose keys begin alike: in a store that is open, so that they
/// can be listed, read and written. Each store has a record of its own. `toString` is what users
/// wrote.
///
/// ```java
/// try (var storage = new Storage();
///     var objects = storage.at("s3://bucket/in/").list()) {
///   objects.forEach(object -> {
///     try (var in = object.location().open(); var out = output.resolve(object.key()).create()) {
///       in.transferTo(out);
///       out.commit();
///     }
///   });
/// }
/// ```
///
/// Any threads may use it at once. Everything that fails is a [StorageException]; what S3 may
/// answer better the next time has been tried as often as its retries allow. A thread that is
/// interrupted gets a [StorageException] too, and stays interrupted.
public interface Location {

    /// The location of a key below this one, with one slash between them.
    ///
    /// @throws StorageException for a local location where the key would lead out of it, or two keys
    ///   to one file: an empty part, `.` or `..`; in S3 for a key that is too long
    Location resolve(String key);

    /// Whether an object here is one of those that a listing of a prefix has, whatever links lead
    /// there.
    boolean isListedIn(Location prefix);

    /// Whether two objects that a listing of this location has may have the same
    /// [key][StoredObject#key].
    default boolean mayRepeatKeys() {
        return false;
    }

    /// The file or directory, where it is a local one.
    default Optional<Path> file() {
        return Optional.empty();
    }

    /// The objects below this location, in the order of their keys' UTF-8 bytes.
    ///
    /// In S3, as `S3DataType=S3Prefix` has it, those are all whose key begins with the location's
    /// key, within a name too; empty ones whose key ends in `/` stand for directories and are left
    /// out. On disk they are the regular files in a directory and all directories below, or the file
    /// that the location itself is. Symbolic links are followed, though not into a directory that
    /// they are in; hidden files and directories (`.…`) are left out, and with them what an
    /// unfinished writer leaves. Where there is nothing, on disk too, there are none.
    ///
    /// @return to be consumed once. It asks for the objects as it goes: it holds a page of them, or
    ///   the names in one directory
    /// @throws StorageException from here or from the stream
    Stream<StoredObject> list();

    /// The size in bytes; nothing where there is no such object.
    OptionalLong size();

    /// Whether there is such an object. A directory or a mere prefix is none.
    default boolean exists() {
        return size().isPresent();
    }

    /// Opens the object to be read from its beginning.
    ///
    /// Where S3 breaks off, the stream asks for the rest and goes on. An object that is replaced
    /// meanwhile is an error then, never a mixture.
    ///
    /// @return a stream without a buffer, whose methods throw [StorageException]
    default InputStream open() {
        return open(0);
    }

    /// Opens the object to be read from a place within it.
    ///
    /// @param from how many bytes are left out; less than the object has, unless it is 0
    ObjectStream open(long from);

    /// Begins an object without a type: a file, or `application/octet-stream` in S3.
    default ObjectWriter create() {
        return create(Optional.empty());
    }

    /// Begins an object, which appears, and takes the place of one that was there, with
    /// [ObjectWriter#commit].
    ///
    /// Directories are made. With the commit, what other writers of the same object have left is
    /// removed, killed ones or not, so there must be one writer of an object at a time: of two that
    /// write, the slower one fails.
    ///
    /// @param contentType kept by S3 only
    ObjectWriter create(Optional<String> contentType);

    /// Makes this object of others, in their order.
    ///
    /// Several processes may do this at once with the same objects: each makes the same of them, and
    /// one is the last. A process that fails, because another one has begun or has ended, has changed
    /// nothing.
    ///
    /// @param parts those that a listing found
    default void join(List<StoredObject> parts, Optional<String> contentType) {
        try (var out = create(contentType)) {
            for (var part : parts) {
                try (var in = part.location().open()) {
                    in.transferTo(out);
                } catch (IOException e) {
                    throw StorageException.retryable(part.location(), "can't be joined: " + e.getMessage(), e);
                }
            }
            out.commit();
        }
    }

    /// Removes the object, where there is one.
    void delete();

    /// Removes all objects below this location, and what unfinished writers have left there.
    void deleteAll();

    /// Removes local directories at and below this location that have nothing in them.
    default void deleteEmpty() {}

    /// The marker at this location, where there is one.
    Optional<Marker> marker();

    /// Writes a marker, if what is there is still what was found. The directory must be there. Of several
    /// processes only one gets true.
    ///
    /// @param text different from that of any other process
    /// @param found nothing: there was none
    boolean mark(String text, Optional<Marker> found);

    /// Writes one's own marker again; false where another process has replaced it.
    default boolean renew(String text, Marker own) {
        return mark(text, Optional.of(own));
    }
}
