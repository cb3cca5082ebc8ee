package dev.berth.storage;

import java.net.URI;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.util.regex.Pattern;

/// Reads locations as users write them.
final class LocationText {

  private static final Pattern SCHEME = Pattern.compile("^([A-Za-z][A-Za-z0-9+.-]*):/");
  private static final Pattern S3 =
      Pattern.compile("s3://([A-Za-z0-9][A-Za-z0-9._-]*)(?:/(.*))?", Pattern.DOTALL);

  private LocationText() {}

  static Location read(String text) {
    var matcher = SCHEME.matcher(text);
    if (!matcher.find()) {
      return new Location.Local(path(text), text);
    }
    return switch (matcher.group(1)) {
      case "s3" -> s3(text);
      case "file" -> new Location.Local(filePath(text), text);
      case String scheme -> throw wrong(text, "the scheme " + scheme);
    };
  }

  private static Location s3(String text) {
    var matcher = S3.matcher(text);
    if (!matcher.matches()) {
      throw wrong(text, "no name of a bucket");
    }
    return new Location.S3(
        matcher.group(1), matcher.group(2) == null ? "" : matcher.group(2), text);
  }

  private static Path filePath(String text) {
    try {
      return Path.of(URI.create(text));
    } catch (IllegalArgumentException e) {
      throw wrong(text, "no URI of a file (%s)".formatted(e.getMessage()));
    }
  }

  private static Path path(String text) {
    if (text.isBlank()) {
      throw wrong(text, "nothing");
    }
    try {
      return Path.of(text);
    } catch (InvalidPathException e) {
      throw wrong(text, "no path (%s)".formatted(e.getReason()));
    }
  }

  private static StorageException wrong(String text, String found) {
    return StorageException.permanent(
        Shortened.quoted(text),
        "found %s, expected s3://bucket/key, file:///path or a path".formatted(found));
  }
}
