package dev.berth.storage;

import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.function.Function;
import java.util.stream.Stream;

/// Lists, reads and writes objects, on the local disk, in S3 and wherever a [StoreKind] reaches.
///
/// ```java
/// try (var storage = new Storage();
///     var objects = storage.list(Location.of("s3://bucket/in/"))) {
///   objects.forEach(object -> {
///     try (var in = storage.open(object.location()); var out = storage.create(output.resolve(object.key()))) {
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
public final class Storage implements AutoCloseable {

    private final List<StoreOptions> options;
    private final Map<StoreKind<?>, ObjectStore<?>> stores = new HashMap<>();

    /// @param options those of each kind of store that is not to be opened as it is by default. They
    ///   are used from the first location of their kind on; before that, nobody is asked for
    ///   credentials or a region
    public Storage(StoreOptions... options) {
        this.options = List.of(options);
    }

    /// The flags that say how stores are opened.
    public static List<StoreKind.Option> flags() {
        return StoreKind.all().stream().flatMap(kind -> kind.options().stream()).toList();
    }

    /// Reads them.
    ///
    /// @param given the value of a flag, `true` for a switch; nothing where it was not given
    /// @throws IllegalArgumentException with a message for people that names the flag
    public static StoreOptions[] options(Function<String, Optional<String>> given) {
        return StoreKind.all().stream()
                .flatMap(kind -> kind.read(given).stream())
                .toArray(StoreOptions[]::new);
    }

    /// The objects below a location, in the order of their keys' UTF-8 bytes.
    ///
    /// In S3, as `S3DataType=S3Prefix` has it, those are all whose key begins with the location's
    /// key, within a name too; empty ones whose key ends in `/` stand for directories and are left
    /// out. On disk they are the regular files in a directory and all directories below, or the file
    /// that the location itself is. Symbolic links are followed, though not into a directory that
    /// they are in; hidden files and directories (`.…`) are left out, and with them what an
    /// unfinished writer leaves.
    ///
    /// @return to be consumed once. It asks for the objects as it goes: it holds a page of them, or
    ///   the names in one directory
    /// @throws StorageException from here or from the stream; for a path that does not exist, too.
    ///   Nothing in a bucket is an empty stream
    public Stream<StoredObject> list(Location prefix) {
        return of(prefix).list(prefix);
    }

    /// The same, and nothing where a local path does not exist.
    public Stream<StoredObject> listIfThere(Location prefix) {
        return prefix.file().filter(path -> !Files.exists(path)).isPresent() ? Stream.empty() : list(prefix);
    }

    /// The size in bytes; nothing where there is no such object.
    public OptionalLong size(Location object) {
        return of(object).size(object);
    }

    /// Whether there is such an object. A directory or a mere prefix is none.
    public boolean exists(Location object) {
        return size(object).isPresent();
    }

    /// Opens an object to be read from its beginning.
    ///
    /// Where S3 breaks off, the stream asks for the rest and goes on. An object that is replaced
    /// meanwhile is an error then, never a mixture.
    ///
    /// @return a stream without a buffer, whose methods throw [StorageException]
    public InputStream open(Location object) {
        return opened(object, 0);
    }

    /// Opens an object to be read from a place within it, if it has as many bytes as when it was
    /// listed.
    ///
    /// @param object its size is 0 where it is unknown
    /// @param from how many bytes are left out; less than the object has, unless it is 0
    public InputStream open(StoredObject object, long from) {
        var in = opened(object.location(), from);
        if (object.size() > 0 && in.size() != object.size()) {
            in.close();
            throw StorageException.changed(object.location(), "since it was listed", in.size(), object.size());
        }
        return in;
    }

    private ObjectStream opened(Location object, long from) {
        return of(object).open(object, from);
    }

    /// Begins an object without a type: a file, or `application/octet-stream` in S3.
    public ObjectWriter create(Location object) {
        return create(object, Optional.empty());
    }

    /// Begins an object, which appears, and takes the place of one that was there, with
    /// [ObjectWriter#commit].
    ///
    /// Directories are made. What an earlier writer of the same object left when it was killed is
    /// removed, so there must be one writer of an object at a time: one that still writes fails where
    /// another begins.
    ///
    /// @param contentType kept by S3 only
    public ObjectWriter create(Location object, Optional<String> contentType) {
        return of(object).create(object, contentType);
    }

    /// Makes an object of others, in their order. In S3 what is long enough is copied there, and does
    /// not come by.
    ///
    /// Several processes may do this at once with the same objects: each makes the same of them, and
    /// one is the last. A process that fails, because another one has begun or has ended, has changed
    /// nothing.
    ///
    /// @param parts those that a listing found, in the same store as `object`
    public void join(List<StoredObject> parts, Location object, Optional<String> contentType) {
        if (of(object).join(parts, object, contentType)) {
            return;
        }
        try (var out = create(object, contentType)) {
            for (var part : parts) {
                try (var in = open(part.location())) {
                    in.transferTo(out);
                } catch (IOException e) {
                    throw StorageException.retryable(part.location(), "can't be joined: " + e.getMessage(), e);
                }
            }
            out.commit();
        }
    }

    /// Removes an object, where there is one.
    public void delete(Location object) {
        of(object).delete(object);
    }

    /// Removes all objects below a location, and what unfinished writers have left there.
    public void deleteAll(Location directory) {
        of(directory).deleteAll(directory);
    }

    /// Removes local directories at and below a location that have nothing in them.
    public void deleteEmpty(Location directory) {
        of(directory).deleteEmpty(directory);
    }

    /// Finds out whether an object can be written, and writes none. Directories are made.
    ///
    /// @throws StorageException where it can't
    public void requireWritable(Location probe) {
        of(probe).requireWritable(probe);
    }

    /// The marker at a location, where there is one.
    public Optional<Marker> marker(Location location) {
        return of(location).marker(location);
    }

    /// Writes a marker where there is none. The directory must be there. Of several processes only
    /// one gets true.
    ///
    /// @param text different from that of any other process
    public boolean mark(Location location, String text) {
        return of(location).mark(location, text);
    }

    /// Writes one's own marker again; false where another process has replaced it.
    public boolean renew(Location location, String text, Marker own) {
        return of(location).renew(location, text, own);
    }

    /// Puts a marker in the place of another process's; false where that has been written again or
    /// replaced.
    public boolean replace(Location location, String text, Marker found) {
        return of(location).replace(location, text, found);
    }

    /// Gives connections back. Streams and writers must be closed before.
    @Override
    public synchronized void close() {
        stores.values().forEach(ObjectStore::close);
    }

    /// The store that a location is in.
    @SuppressWarnings("unchecked")
    private synchronized <L extends Location> ObjectStore<L> of(L location) {
        var kind = StoreKind.all().stream()
                .filter(known -> known.locations().isInstance(location))
                .findFirst()
                .orElseThrow();
        // A location has the class that its kind names.
        return (ObjectStore<L>) stores.computeIfAbsent(kind, _ -> kind.open(options));
    }
}
