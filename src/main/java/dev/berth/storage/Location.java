package dev.berth.storage;

import java.io.IOException;
import java.nio.file.Path;

/// Where an object is, or the objects whose keys begin alike. `toString` is what users wrote.
public sealed interface Location {

  /// A file or a directory.
  record Local(Path path, String text) implements Location {
    @Override
    public Local resolve(String key) {
      for (var name : key.split("/", -1)) {
        if (name.isEmpty() || name.equals(".") || name.equals("..") || name.indexOf('\0') >= 0) {
          throw StorageException.permanent(
              this,
              "found the key \"%s\", expected one whose parts can be names of files"
                  .formatted(key));
        }
      }
      return new Local(path.resolve(key), below(text, key));
    }

    @Override
    public String toString() {
      return text;
    }
  }

  /// An object in a bucket, or a prefix of keys there.
  ///
  /// @param key not percent-encoded; empty for the whole bucket
  record S3(String bucket, String key, String text) implements Location {
    @Override
    public S3 resolve(String child) {
      return new S3(bucket, key.isEmpty() ? child : below(key, child), below(text, child));
    }

    @Override
    public String toString() {
      return text;
    }
  }

  /// Reads `s3://bucket/key`, `file:///path` or a path.
  ///
  /// All behind the bucket is the key as it is, as in the AWS CLI: `%20` is not a space there. In a
  /// `file:` URI it is.
  ///
  /// @throws StorageException for anything else
  static Location of(String text) {
    return LocationText.read(text);
  }

  /// The location of a key below this one, with one slash between them.
  ///
  /// @throws StorageException for a local location where the key would lead out of it, or two keys
  ///   to one file: an empty part, `.` or `..`
  Location resolve(String key);

  /// Whether an object here is one of those that a listing of a prefix has, whatever links lead
  /// there.
  default boolean isListedIn(Location prefix) {
    return switch (this) {
      case Local(var path, _) ->
          prefix instanceof Local(var directory, _) && real(path).startsWith(real(directory));
      case S3(var bucket, var key, _) ->
          prefix instanceof S3(var other, var beginning, _)
              && bucket.equals(other)
              && key.startsWith(beginning);
    };
  }

  /// What is not there yet has the real path of its directory.
  private static Path real(Path path) {
    var absolute = path.toAbsolutePath().normalize();
    try {
      return absolute.toRealPath();
    } catch (IOException _) {
      return absolute.getParent() == null
          ? absolute
          : real(absolute.getParent()).resolve(absolute.getFileName());
    }
  }

  private static String below(String parent, String child) {
    return parent.endsWith("/") ? parent + child : parent + "/" + child;
  }
}
