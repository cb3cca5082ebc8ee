package dev.berth.storage;

import java.io.InputStream;

/// An object that a listing found.
///
/// @param key what it is called below the location that was listed. Where the prefix `in/da` of a
///   listing ends within a name, the whole name counts: `in/data.csv` is `data.csv`; so is the
///   object that is listed by its own location
/// @param size in bytes; 0 where it is unknown
public record StoredObject(Location location, String key, long size) {

    /// Opens it to be read from a place within it, if it has as many bytes as when it was listed.
    ///
    /// @param from how many bytes are left out; less than the object has, unless it is 0
    public InputStream open(long from) {
        var in = location.open(from);
        if (size > 0 && in.size() != size) {
            in.close();
            throw StorageException.changed(location, "since it was listed", in.size(), size);
        }
        return in;
    }
}
