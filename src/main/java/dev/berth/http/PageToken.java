package dev.berth.http;

import dev.berth.error.ErrorType;
import dev.berth.error.ServingException;
import java.nio.charset.StandardCharsets;
import java.util.Base64;

/// Where the next page of a listing begins: behind the last name of the page before. So models may
/// come and go meanwhile.
final class PageToken {

  /// Tells a token from other text.
  private static final String MARK = "after:";

  private PageToken() {}

  static String after(String name) {
    return Base64.getUrlEncoder()
        .withoutPadding()
        .encodeToString((MARK + name).getBytes(StandardCharsets.UTF_8));
  }

  /// The name behind which the page begins.
  ///
  /// @throws ServingException `BAD_INPUT` when it is none of ours
  static String read(String token) {
    try {
      var text = new String(Base64.getUrlDecoder().decode(token), StandardCharsets.UTF_8);
      if (text.startsWith(MARK) && after(text.substring(MARK.length())).equals(token)) {
        return text.substring(MARK.length());
      }
    } catch (IllegalArgumentException _) {
      // It is not Base64.
    }
    throw new ServingException(
        ErrorType.BAD_INPUT,
        "next_page_token: found %s, expected the nextPageToken of a listing"
            .formatted(Text.quoted(token)));
  }
}
