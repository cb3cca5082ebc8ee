package dev.berth.storage;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.channels.Channels;
import java.nio.file.DirectoryNotEmptyException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.OptionalLong;
import java.util.Spliterator;
import java.util.Spliterators;
import java.util.function.Predicate;
import java.util.stream.Stream;
import java.util.stream.StreamSupport;

/// Files and directories.
final class LocalStore {

  private final Leftovers leftovers = new Leftovers();

  Stream<StoredObject> list(Location.Local location) {
    var path = location.path();
    if (Files.isRegularFile(path)) {
      return Stream.of(
          new StoredObject(location, path.getFileName().toString(), size(location).orElseThrow()));
    }
    var files = new LocalListing(location);
    return StreamSupport.stream(
        Spliterators.spliteratorUnknownSize(files, Spliterator.ORDERED | Spliterator.NONNULL),
        false);
  }

  OptionalLong size(Location.Local location) {
    var path = location.path();
    try {
      return Files.isRegularFile(path) ? OptionalLong.of(Files.size(path)) : OptionalLong.empty();
    } catch (NoSuchFileException _) {
      // Another instance has removed it between the two looks.
      return OptionalLong.empty();
    } catch (IOException e) {
      throw LocalErrors.of(location, "read", e);
    }
  }

  InputStream open(Location.Local location, long from) {
    if (Files.isDirectory(location.path())) {
      throw StorageException.permanent(
          location, "can't be read: found a directory, expected a file");
    }
    try {
      var file = Files.newByteChannel(location.path());
      return new LocalReader(location, Channels.newInputStream(file.position(from)));
    } catch (IOException e) {
      throw LocalErrors.of(location, "read", e);
    }
  }

  void delete(Location.Local location) {
    try {
      Files.deleteIfExists(location.path());
    } catch (IOException e) {
      throw LocalErrors.of(location, "removed", e);
    }
  }

  /// What is deepest goes first. Directories that have something in them then stay, and so does
  /// what others remove meanwhile.
  void deleteAll(Location.Local directory, Predicate<Path> wanted) {
    if (!Files.isDirectory(directory.path())) {
      return;
    }
    try (var below = Files.walk(directory.path())) {
      for (var path : below.filter(wanted).sorted(Comparator.reverseOrder()).toList()) {
        try {
          Files.deleteIfExists(path);
        } catch (DirectoryNotEmptyException _) {
          // As said above.
        }
      }
    } catch (NoSuchFileException _) {
      // Another instance has removed it.
    } catch (UncheckedIOException e) {
      if (!(e.getCause() instanceof NoSuchFileException)) {
        throw LocalErrors.of(directory, "removed", e.getCause());
      }
    } catch (IOException e) {
      throw LocalErrors.of(directory, "removed", e);
    }
  }

  ObjectWriter create(Location.Local location) {
    return LocalWriter.create(location, leftovers);
  }
}
