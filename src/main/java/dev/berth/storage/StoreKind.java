package dev.berth.storage;

import java.util.List;
import java.util.function.Function;

/// A kind of store. Another one is a class like [S3Store], and a line in the list.
///
/// @param scheme of its URIs
/// @param form of its locations, for people
/// @param locations the record that its locations are
/// @param reading makes a location of a text that begins with the scheme
/// @param opening makes the store when its first location is used
record StoreKind<L extends Location>(
    String scheme,
    String form,
    Class<L> locations,
    Function<String, L> reading,
    Function<S3Options, ObjectStore<L>> opening) {

  static final List<StoreKind<?>> ALL = List.of(S3Store.KIND, LocalStore.KIND);
}
