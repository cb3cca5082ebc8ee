package dev.berth.http;

import dev.berth.error.ErrorType;
import dev.berth.error.ServingException;
import java.io.IOException;
import java.io.InputStream;

/// A request's body that may not be longer than the server takes. Used by the request's thread.
///
/// When the limit is passed it reads a while longer and throws the rest away: a caller who still writes would otherwise see
/// a broken connection instead of the answer that says why.
final class LimitedBody extends InputStream {

  private static final long MOST_TO_DISCARD = 256L << 20;

  private final InputStream body;
  private final long limit;
  private long read;

  LimitedBody(InputStream body, long limit) {
    this.body = body;
    this.limit = limit;
  }

  @Override
  public int read() throws IOException {
    var one = new byte[1];
    return read(one, 0, 1) < 0 ? -1 : one[0] & 0xff;
  }

  @Override
  public int read(byte[] buffer, int offset, int length) throws IOException {
    int count;
    try {
      count = body.read(buffer, offset, length);
    } catch (IOException e) {
      throw new ServingException(ErrorType.BAD_INPUT, "body: the connection ended after %d bytes, before the body did".formatted(read), e);
    }
    read += Math.max(0, count);
    if (read > limit) {
      throw tooLarge("more than %d bytes".formatted(limit));
    }
    return count;
  }

  /// Refuses a body whose length is declared and too large, before it is read.
  void checkDeclared(long length) {
    if (length > limit) {
      throw tooLarge("%d bytes".formatted(length));
    }
  }

  private ServingException tooLarge(String found) {
    discard();
    return new ServingException(
        ErrorType.PAYLOAD_TOO_LARGE,
        "body: found %s, expected at most %d; raise SAGEMAKER_MAX_PAYLOAD_IN_MB (0: no limit)".formatted(found, limit));
  }

  private void discard() {
    try {
      var buffer = new byte[1 << 16];
      for (long discarded = 0; discarded < MOST_TO_DISCARD; ) {
        int count = body.read(buffer);
        if (count < 0) {
          return;
        }
        discarded += count;
      }
    } catch (IOException e) {
      // The caller has gone; the answer will find that out by itself.
    }
  }
}
