package dev.berth.serving;

import java.io.FilterInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.util.Arrays;
import java.util.OptionalLong;

/// A request's body as `inputFn` reads it: the hook's permit is free while the network is waited for, and a hook that
/// asks for the whole body at once waits for its share of memory first.
final class HookBody extends FilterInputStream {

  private static final int SMALL = 1 << 20;
  /// The JVM makes no longer ones.
  private static final int LONGEST_ARRAY = Integer.MAX_VALUE - 8;

  private final OptionalLong length;
  private final HookPermits permits;
  private final PayloadMemory.Share share;
  private final long deadlineNanos;
  private volatile boolean waiting;

  /// @param length the body's length, where the caller declared one
  HookBody(InputStream body, OptionalLong length, HookPermits permits, PayloadMemory.Share share, long deadlineNanos) {
    super(body);
    this.length = length;
    this.permits = permits;
    this.share = share;
    this.deadlineNanos = deadlineNanos;
  }

  @Override
  public int read() throws IOException {
    return waiting(in::read);
  }

  @Override
  public int read(byte[] buffer, int offset, int count) throws IOException {
    return waiting(() -> in.read(buffer, offset, count));
  }

  /// A body of unknown length takes all the memory there is, and so waits to be alone, unless it turns out to be small.
  @Override
  public byte[] readAllBytes() throws IOException {
    if (length.isPresent()) {
      take(length.getAsLong());
      return length.getAsLong() > LONGEST_ARRAY ? super.readAllBytes() : readDeclared((int) length.getAsLong());
    }
    var start = readNBytes(SMALL);
    if (start.length < SMALL) {
      return start;
    }
    take(Long.MAX_VALUE);
    var rest = super.readAllBytes();
    var whole = Arrays.copyOf(start, start.length + rest.length);
    System.arraycopy(rest, 0, whole, start.length, rest.length);
    return whole;
  }

  /// Into one array of the right size: what reads on to an end of its own allocates 16 KB at least, and copies.
  private byte[] readDeclared(int declared) throws IOException {
    var whole = new byte[declared];
    int count = readNBytes(whole, 0, declared);
    return count == declared ? whole : Arrays.copyOf(whole, count);
  }

  /// Whether a hook waits for the caller to send more.
  boolean isWaiting() {
    return waiting;
  }

  private int waiting(HookPermits.Blocking<Integer, IOException> read) throws IOException {
    waiting = true;
    try {
      return permits.yielding(read);
    } finally {
      waiting = false;
    }
  }

  private void take(long bytes) {
    permits.yielding(() -> {
      share.take(bytes, deadlineNanos);
      return null;
    });
  }
}
