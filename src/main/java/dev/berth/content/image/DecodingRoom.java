package dev.berth.content.image;

import java.util.concurrent.Semaphore;
import java.util.function.Supplier;

/// How many pixels may be decoded at the same time, by all threads together: many large pictures wait for each other
/// and do not fill the heap together. May be used by any thread.
final class DecodingRoom {

  private final int all;
  private final Semaphore free;

  DecodingRoom(long pixels) {
    this.all = Math.clamp(pixels, 1, Integer.MAX_VALUE);
    // Fair, so that a large picture gets its turn among small ones.
    this.free = new Semaphore(all, true);
  }

  /// Decodes a picture as soon as there is room for it. A larger one than there is room for waits to be alone.
  ///
  /// @throws IllegalStateException when the thread is interrupted before, as that of a hook is whose time is over
  Image decode(long pixels, Supplier<Image> decoding) {
    int needed = (int) Math.min(pixels, all);
    try {
      free.acquire(needed);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException("interrupted before there was room to decode a picture", e);
    }
    try {
      return decoding.get();
    } finally {
      free.release(needed);
    }
  }
}
