package dev.berth.http;

import dev.berth.error.ErrorType;
import dev.berth.error.ServingException;
import java.io.IOException;
import java.io.InputStream;
import java.time.Duration;

/// A request's body that may not be longer than the server takes, nor take longer than the request. Used by the
/// request's thread.
final class LimitedBody extends InputStream {

  private static final long MOST_TO_DISCARD = 256L << 20;

  private static final Duration LONGEST_DISCARD = Duration.ofSeconds(5);

  /// Where the body comes from.
  interface Source {
    InputStream open() throws IOException;
  }

  private final Source source;
  private final long limit;
  private final long deadlineNanos;
  private long read;
  private boolean ended;

  /// @param source opened at the first read, because that is what tells a caller with `Expect: 100-continue` to send
  ///     the body
  LimitedBody(Source source, long limit, long deadlineNanos) {
    this.source = source;
    this.limit = limit;
    this.deadlineNanos = deadlineNanos;
  }

  @Override
  public int read() throws IOException {
    var one = new byte[1];
    return read(one, 0, 1) < 0 ? -1 : one[0] & 0xff;
  }

  @Override
  public int read(byte[] buffer, int offset, int length) throws IOException {
    if (deadlineNanos - System.nanoTime() <= 0) {
      throw new ServingException(
          ErrorType.DEADLINE_EXCEEDED, "the request's time ran out after %d bytes of its body".formatted(read));
    }
    int count;
    try {
      count = source.open().read(buffer, offset, length);
    } catch (IOException e) {
      throw new ServingException(ErrorType.BAD_INPUT,
          "body: it can't be read on after %d bytes: the connection ended or its chunks are malformed".formatted(read), e);
    }
    ended = count < 0;
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
    return new ServingException(
        ErrorType.PAYLOAD_TOO_LARGE,
        "body: found %s, expected at most %d; raise SAGEMAKER_MAX_PAYLOAD_IN_MB (0: no limit)".formatted(found, limit));
  }

  /// Reads what is left and throws it away, within reason: a caller who still writes would otherwise see a broken
  /// connection instead of the answer that says why.
  void discard() {
    long stop = System.nanoTime() + LONGEST_DISCARD.toNanos();
    try {
      var buffer = new byte[1 << 13];
      for (long discarded = 0; !ended && discarded < MOST_TO_DISCARD && stop - System.nanoTime() > 0; ) {
        int count = source.open().read(buffer);
        ended = count < 0;
        discarded += count;
      }
    } catch (IOException e) {
      // The caller has gone; the answer will find that out by itself.
    }
  }
}
