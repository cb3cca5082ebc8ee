package dev.berth.storage;

/// A store whose locations can be used until it is closed. Used by any threads.
public interface ObjectStore extends AutoCloseable {

    /// Makes a location of a text that begins with the scheme of the [StoreKind]. That of `file` reads
    /// paths too. Asks nobody for anything.
    ///
    /// @throws StorageException for a text that is none, best made with [StoreKind#wrong]
    Location at(String text);

    @Override
    default void close() {}
}
