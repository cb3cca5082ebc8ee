package dev.berth.transform;

import java.util.Optional;
import java.util.concurrent.Semaphore;

/// Room for the payloads between reading and writing, of all objects of a job together: for so many of them, and for so
/// many bytes. Used by many threads.
///
/// A thread takes the room that its next payload needs at most, reads it, and gives back what was too much. One that has
/// room of its own must not wait for more: it writes what it has, and gives that room back.
final class PayloadRoom {

  /// A payload's records, its body, what it is joined with, and its answer.
  private static final int COPIES = 4;

  /// A server in the same process needs its own, and so do the parts of outputs on their way to S3.
  private static final int SHARE_OF_HEAP = 4;

  private static final int UNIT = 1 << 10;

  private final Semaphore payloads;
  private final Semaphore units;
  private final int all;

  PayloadRoom(int payloads, long bytes) {
    this.payloads = new Semaphore(payloads);
    this.all = Math.clamp(bytes / COPIES / UNIT, 1, Integer.MAX_VALUE);
    this.units = new Semaphore(all);
  }

  /// @param concurrent requests: as many payloads again may be read, or have an answer that waits to be written
  static PayloadRoom of(int concurrent) {
    return new PayloadRoom(2 * concurrent, Runtime.getRuntime().maxMemory() / SHARE_OF_HEAP);
  }

  /// The room of one payload. For one thread.
  final class Place implements AutoCloseable {
    private int held;

    private Place(int held) {
      this.held = held;
    }

    /// Gives back what is not needed.
    void shrinkTo(long bytes) {
      int needed = Math.min(held, units(bytes));
      units.release(held - needed);
      held = needed;
    }

    @Override
    public void close() {
      units.release(held);
      payloads.release();
    }
  }

  /// Nothing where there is no room now.
  Optional<Place> tryTake(long bytes) {
    if (!payloads.tryAcquire()) {
      return Optional.empty();
    }
    if (!units.tryAcquire(units(bytes))) {
      payloads.release();
      return Optional.empty();
    }
    return Optional.of(new Place(units(bytes)));
  }

  /// Waits for room. A payload larger than everything there is waits to be alone.
  Place take(long bytes) throws InterruptedException {
    payloads.acquire();
    try {
      units.acquire(units(bytes));
    } catch (InterruptedException e) {
      payloads.release();
      throw e;
    }
    return new Place(units(bytes));
  }

  private int units(long bytes) {
    return (int) Math.min(all, bytes / UNIT + 1);
  }
}
