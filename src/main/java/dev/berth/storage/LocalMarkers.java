package dev.berth.storage;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.time.Instant;
import java.util.Optional;

/// Markers in files.
final class LocalMarkers {

  private LocalMarkers() {}

  static Optional<Marker> find(Location.Local location) {
    try {
      var text = Files.readString(location.path());
      var written = Files.getLastModifiedTime(location.path()).toInstant();
      var age = Duration.between(written, now(location.path().toAbsolutePath().getParent()));
      return Optional.of(new Marker(text, text, age.isNegative() ? Duration.ZERO : age));
    } catch (NoSuchFileException e) {
      return Optional.empty();
    } catch (IOException e) {
      throw LocalErrors.of(location, "read", e);
    }
  }

  /// A file server has a clock of its own.
  private static Instant now(Path directory) throws IOException {
    var file = Files.createTempFile(directory, ".berth-clock-", "");
    try {
      return Files.getLastModifiedTime(file).toInstant();
    } finally {
      Files.delete(file);
    }
  }

  static boolean mark(Location.Local location, String text) {
    try (var file =
        FileChannel.open(
            location.path(), StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE)) {
      write(file, text);
      return true;
    } catch (FileAlreadyExistsException e) {
      return false;
    } catch (IOException e) {
      throw LocalErrors.of(location, "written", e);
    }
  }

  /// In place, so that the file is there all the time.
  static boolean renew(Location.Local location, String text, Marker found) {
    if (find(location).filter(marker -> marker.text().equals(found.text())).isEmpty()) {
      return false;
    }
    try (var file = FileChannel.open(location.path(), StandardOpenOption.WRITE)) {
      write(file, text);
      file.truncate(file.position());
      return true;
    } catch (NoSuchFileException e) {
      return false;
    } catch (IOException e) {
      throw LocalErrors.of(location, "written", e);
    }
  }

  /// Takes the file away, which only one can, and looks whether it was the right one. One that was
  /// written meanwhile is put back, unless yet another is there.
  static boolean replace(Location.Local location, String text, Marker found) {
    var away = Leftovers.temporary(location.path());
    try {
      Files.move(location.path(), away, StandardCopyOption.ATOMIC_MOVE);
      if (Files.readString(away).equals(found.text())) {
        Files.delete(away);
        return mark(location, text);
      }
      Files.move(away, location.path());
      return false;
    } catch (NoSuchFileException e) {
      return false;
    } catch (FileAlreadyExistsException e) {
      delete(location, away);
      return false;
    } catch (IOException e) {
      throw LocalErrors.of(location, "written", e);
    }
  }

  private static void delete(Location.Local location, Path file) {
    try {
      Files.delete(file);
    } catch (IOException e) {
      throw LocalErrors.of(location, "removed", e);
    }
  }

  private static void write(FileChannel file, String text) throws IOException {
    var bytes = ByteBuffer.wrap(text.getBytes(StandardCharsets.UTF_8));
    while (bytes.hasRemaining()) {
      file.write(bytes);
    }
  }
}
