package dev.berth.storage;

import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;
import java.util.List;
import java.util.Optional;
import java.util.regex.Pattern;

/// The ETag of an object that was uploaded in parts: the MD5 of its parts' MD5s, and their number.
final class PartsTag {

  private static final Pattern MD5 = Pattern.compile("\"?([0-9a-f]{32})\"?");

  private PartsTag() {}

  /// @param parts their ETags. Nothing where one is no MD5, as with some encryptions
  static Optional<String> of(List<String> parts) {
    try {
      var digest = MessageDigest.getInstance("MD5");
      for (var part : parts) {
        var matcher = MD5.matcher(part);
        if (!matcher.matches()) {
          return Optional.empty();
        }
        digest.update(HexFormat.of().parseHex(matcher.group(1)));
      }
      return Optional.of(
          "\"%s-%d\"".formatted(HexFormat.of().formatHex(digest.digest()), parts.size()));
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException(e);
    }
  }
}
