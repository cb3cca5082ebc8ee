package dev.berth.storage;

import java.nio.file.Path;
import java.util.Optional;
import java.util.regex.Pattern;

/// Where an object is, or the objects whose keys begin alike. Each store has a record of its own,
/// and each is equal to itself alone. `toString` is what users wrote.
public interface Location {

    /// Reads a URI such as `s3://bucket/key` or `file:///path`, or a path.
    ///
    /// All behind the bucket is the key as it is, as in the AWS CLI: `%20` is not a space there. In a
    /// `file:` URI it is.
    ///
    /// @throws StorageException for anything else
    static Location of(String text) {
        var matcher = Pattern.compile("^([A-Za-z][A-Za-z0-9+.-]*):/").matcher(text);
        var scheme = matcher.find() ? matcher.group(1) : "file";
        return StoreKind.all().stream()
                .filter(kind -> kind.scheme().equals(scheme))
                .findFirst()
                .orElseThrow(() -> StoreKind.wrong(text, "the scheme " + scheme))
                .location(text);
    }

    /// The location of a file or a directory of the default file system.
    static Location of(Path file) {
        return of(file.toString());
    }

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
}
