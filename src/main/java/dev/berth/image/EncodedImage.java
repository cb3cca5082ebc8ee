package dev.berth.image;

import dev.berth.hooks.BadInputException;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.HexFormat;

/// A picture whose header has been read and whose pixels have not been decoded yet.
///
/// The formats are told apart by their first bytes. Each takes its file apart by itself as far as
/// it must: to know the size before anything is allocated, and to hand the decoder the parts that
/// hold the picture and nothing else. Colour profiles, previews and comments are no decoder's
/// business then, whatever is in them.
sealed interface EncodedImage permits JpegImage, PngImage, GifImage, BmpImage, WebpImage {

  /// Before it is turned.
  int width();

  /// Before it is turned.
  int height();

  /// Some four seconds of a core. A JPEG of 60 million pixels may have ten scans, which is more
  /// than cameras and editors make.
  long MOST_WORK = 600_000_000;

  /// What it costs to decode: its pixels, each as often as a decoder goes through it. No more than
  /// [#MOST_WORK].
  default long work() {
    return (long) width() * height();
  }

  /// The EXIF orientation: from 1, which is upright, to 8.
  default int orientation() {
    return Orientation.UPRIGHT;
  }

  /// The pixels as they are stored.
  ///
  /// @throws IOException and exceptions of any other kind where the bytes are damaged
  Image decode() throws IOException;

  static EncodedImage of(byte[] bytes) {
    var start = new String(bytes, 0, Math.min(bytes.length, 12), StandardCharsets.ISO_8859_1);
    if (start.startsWith("\u00ff\u00d8\u00ff")) {
      return JpegImage.of(bytes);
    }
    if (start.startsWith("\u0089PNG\r\n\u001a\n")) {
      return PngImage.of(bytes);
    }
    if (start.startsWith("GIF87a") || start.startsWith("GIF89a")) {
      return GifImage.of(bytes);
    }
    if (start.startsWith("BM")) {
      return BmpImage.of(bytes);
    }
    if (start.startsWith("RIFF") && start.startsWith("WEBP", 8)) {
      return WebpImage.of(bytes);
    }
    if (bytes.length == 0) {
      throw new BadInputException("image: found no bytes, expected JPEG, PNG, GIF, BMP or WebP");
    }
    var text = start.replaceAll("\\s", " ");
    boolean isText = text.chars().allMatch(c -> c >= ' ' && c < 127);
    throw new BadInputException(
        "image: found %s, expected JPEG, PNG, GIF, BMP or WebP"
            .formatted(
                isText
                    ? "the text \"%s%s\"".formatted(text, bytes.length > start.length() ? "…" : "")
                    : "the first bytes "
                        + HexFormat.ofDelimiter(" ")
                            .formatHex(bytes, 0, Math.min(bytes.length, 8))));
  }

  /// What a file says about itself that is not there.
  static BadInputException endsEarly(String part, long offset, long found, long expected) {
    return new BadInputException(
        "image: %s at offset %d: found %d bytes, expected %d"
            .formatted(part, offset, found, expected));
  }
}
