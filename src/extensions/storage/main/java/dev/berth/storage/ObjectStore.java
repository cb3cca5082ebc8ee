package dev.berth.storage;

import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.stream.Stream;

/// One store, behind [Storage], whose methods of the same names say what these do. Used by any
/// threads.
///
/// @param <L> its locations
public interface ObjectStore<L extends Location> extends AutoCloseable {

    Stream<StoredObject> list(L prefix);

    OptionalLong size(L object);

    ObjectStream open(L object, long from);

    ObjectWriter create(L object, Optional<String> contentType);

    /// Joins objects without their bytes coming by.
    ///
    /// @return false where this store can't
    default boolean join(List<StoredObject> parts, L object, Optional<String> contentType) {
        return false;
    }

    void delete(L object);

    void deleteAll(L directory);

    /// Only where directories are something of their own.
    default void deleteEmpty(L directory) {}

    void requireWritable(L probe);

    Optional<Marker> marker(L location);

    boolean mark(L location, String text);

    default boolean renew(L location, String text, Marker own) {
        return replace(location, text, own);
    }

    boolean replace(L location, String text, Marker found);

    @Override
    default void close() {}
}
