package dev.berth.storage;

import java.util.List;
import java.util.Optional;
import java.util.ServiceLoader;
import java.util.function.Function;
import java.util.stream.Collectors;

/// A kind of store, such as S3 or the local disk. [ServiceLoader] finds it, once in a process.
///
/// Another kind is this, an [ObjectStore] and its record of a [Location]. Nothing else names it:
/// commands show its flags, and [Storage#at] finds it by the scheme of a URI. Any
/// threads may call it.
public interface StoreKind {

    /// Of its URIs, such as `s3`.
    String scheme();

    /// The form of its locations, for people: `s3://bucket/key`.
    String form();

    /// What may be said of its stores, as flags.
    default List<Option> flags() {
        return List.of();
    }

    /// Makes a store, which asks nobody for anything yet: a location may only be looked at.
    ///
    /// @param given the value of a flag, `true` for a switch; nothing where it was not given
    /// @throws IllegalArgumentException with a message for people that names the flag
    ObjectStore open(Function<String, Optional<String>> given);

    /// A flag of a command.
    ///
    /// @param name with its dashes
    /// @param label what stands for the value; empty for a switch
    record Option(String name, String label, String meaning) {}

    /// All that there are.
    static List<StoreKind> all() {
        return Found.KINDS;
    }

    /// @param found what was written instead of a location
    static StorageException wrong(String text, String found) {
        return StorageException.permanent(
                Shortened.quoted(text),
                "found %s, expected %s or a path"
                        .formatted(found, all().stream().map(StoreKind::form).collect(Collectors.joining(", "))));
    }

    /// A key below another one, as users write it.
    static String below(String parent, String child) {
        return parent.endsWith("/") ? parent + child : parent + "/" + child;
    }

    /// Looked for once.
    final class Found {
        private static final List<StoreKind> KINDS =
                ServiceLoader.load(StoreKind.class, StoreKind.class.getClassLoader()).stream()
                        .map(ServiceLoader.Provider::get)
                        .toList();

        private Found() {}
    }
}
