package dev.berth.storage;

import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.concurrent.locks.ReentrantLock;
import java.util.stream.Stream;

/// Lists, reads and writes objects, on the local disk and in S3.
///
/// ```java
/// try (var storage = new Storage(S3Options.DEFAULT);
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
/// answer better the next time has been tried as often as the [RetryPolicy] says. A thread that is
/// interrupted gets a [StorageException] too, and stays interrupted.
public final class Storage implements AutoCloseable {

  private final S3Options options;
  private final LocalStore files = new LocalStore();
  private final ReentrantLock lock = new ReentrantLock();
  private S3Store s3;

  /// @param options used from the first location in S3 on; before that, nobody is asked for
  ///   credentials or a region
  public Storage(S3Options options) {
    this.options = options;
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
    return switch (prefix) {
      case Location.Local local -> files.list(local);
      case Location.S3 remote -> s3().list(remote);
    };
  }

  /// The same, and nothing where a local path does not exist.
  public Stream<StoredObject> listIfThere(Location prefix) {
    return prefix instanceof Location.Local(var path, _) && !Files.exists(path)
        ? Stream.empty()
        : list(prefix);
  }

  /// The size in bytes; nothing where there is no such object.
  public OptionalLong size(Location object) {
    return switch (object) {
      case Location.Local local -> files.size(local);
      case Location.S3 remote -> s3().size(remote);
    };
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
  /// @param object its size is 0 where nobody knows it
  /// @param from how many bytes are left out; less than the object has, unless it is 0
  public InputStream open(StoredObject object, long from) {
    var in = opened(object.location(), from);
    if (object.size() > 0 && in.size() != object.size()) {
      in.close();
      throw StorageException.changed(
          object.location(), "since it was listed", in.size(), object.size());
    }
    return in;
  }

  private ObjectStream opened(Location object, long from) {
    return switch (object) {
      case Location.Local local -> files.open(local, from);
      case Location.S3 remote -> s3().open(remote, from);
    };
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
    return switch (object) {
      case Location.Local local -> files.create(local);
      case Location.S3 remote -> s3().create(remote, contentType);
    };
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
    if (object instanceof Location.S3 remote && s3().join(parts, remote, contentType)) {
      return;
    }
    try (var out = create(object, contentType)) {
      for (var part : parts) {
        try (var in = open(part.location())) {
          in.transferTo(out);
        } catch (IOException e) {
          throw StorageException.retryable(
              part.location(), "can't be joined: " + e.getMessage(), e);
        }
      }
      out.commit();
    }
  }

  /// Removes an object, where there is one.
  public void delete(Location object) {
    switch (object) {
      case Location.Local local -> files.delete(local);
      case Location.S3 remote -> s3().delete(remote);
    }
  }

  /// Removes all objects below a location, and what unfinished writers have left there.
  public void deleteAll(Location directory) {
    switch (directory) {
      case Location.Local local -> files.deleteAll(local, _ -> true);
      case Location.S3(var bucket, var key, var text) -> {
        // Without the slash it would be a beginning of other names too.
        try (var objects = s3().list(new Location.S3(bucket, key + "/", text + "/"))) {
          objects.forEach(object -> delete(object.location()));
        }
      }
    }
  }

  /// Removes local directories at and below a location that have nothing in them.
  public void deleteEmpty(Location directory) {
    if (directory instanceof Location.Local local) {
      files.deleteAll(local, Files::isDirectory);
    }
  }

  /// Finds out whether an object can be written, and writes none. Directories are made.
  ///
  /// @throws StorageException where it can't
  public void requireWritable(Location probe) {
    switch (probe) {
      case Location.Local local -> files.create(local).close();
      case Location.S3 remote -> s3().requireWritable(remote);
    }
  }

  /// The marker at a location, where there is one.
  public Optional<Marker> marker(Location location) {
    return switch (location) {
      case Location.Local local -> LocalMarkers.find(local);
      case Location.S3 remote -> s3().markers().find(remote);
    };
  }

  /// Writes a marker where there is none. The directory must be there. Of several processes only
  /// one gets true.
  ///
  /// @param text different from that of any other process
  public boolean mark(Location location, String text) {
    return switch (location) {
      case Location.Local local -> LocalMarkers.mark(local, text);
      case Location.S3 remote -> s3().markers().mark(remote, text);
    };
  }

  /// Writes one's own marker again; false where another process has replaced it.
  public boolean renew(Location location, String text, Marker own) {
    return switch (location) {
      case Location.Local local -> LocalMarkers.renew(local, text, own);
      case Location.S3 remote -> s3().markers().replace(remote, text, own);
    };
  }

  /// Puts a marker in the place of another process's; false where that has been written again or
  /// replaced.
  public boolean replace(Location location, String text, Marker found) {
    return switch (location) {
      case Location.Local local -> LocalMarkers.replace(local, text, found);
      case Location.S3 remote -> s3().markers().replace(remote, text, found);
    };
  }

  /// Gives S3's connections back. Streams and writers must be closed before.
  @Override
  public void close() {
    lock.lock();
    try {
      if (s3 != null) {
        s3.close();
      }
    } finally {
      lock.unlock();
    }
  }

  private S3Store s3() {
    lock.lock();
    try {
      if (s3 == null) {
        s3 = new S3Store(options);
      }
      return s3;
    } finally {
      lock.unlock();
    }
  }
}
