package dev.berth.storage;

import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.function.Function;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/// One store, behind [Storage], whose methods of the same names say what these do. Used by any
/// threads.
///
/// @param <L> its locations
interface ObjectStore<L extends Location> extends AutoCloseable {

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

  /// A kind of store. Another one is a class like [S3Store], and a line in the list.
  ///
  /// @param scheme of its URIs
  /// @param form of its locations, for people
  /// @param locations the record that its locations are
  /// @param reading makes a location of a text that begins with the scheme
  /// @param opening makes the store when its first location is used
  record Kind<L extends Location>(
      String scheme,
      String form,
      Class<L> locations,
      Function<String, L> reading,
      Function<S3Options, ObjectStore<L>> opening) {

    static final List<Kind<?>> ALL = List.of(S3Store.KIND, LocalStore.KIND);

    /// @param found what was written instead of a location
    static StorageException wrong(String text, String found) {
      return StorageException.permanent(
          Shortened.quoted(text),
          "found %s, expected %s or a path"
              .formatted(found, ALL.stream().map(Kind::form).collect(Collectors.joining(", "))));
    }

    /// A key below another one, as users write it.
    static String below(String parent, String child) {
      return parent.endsWith("/") ? parent + child : parent + "/" + child;
    }
  }
}
