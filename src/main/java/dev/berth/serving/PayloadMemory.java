package dev.berth.serving;

import dev.berth.error.ErrorType;
import dev.berth.error.ServingException;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;

/// How many bytes of payloads may be in memory at the same time, so that many large requests wait for each other and
/// do not end the process together. Payloads that a hook reads as a stream do not count.
public final class PayloadMemory {

  /// What a payload becomes on its way: its bytes, its text, its parsed form and some 24 bytes for each token.
  private static final int GROWTH = 24;

  private static final int UNIT = 1024;

  private final Semaphore units;
  private final int all;

  PayloadMemory(long bytes) {
    this.all = Math.clamp(bytes / UNIT, 1, Integer.MAX_VALUE);
    this.units = new Semaphore(all);
  }

  /// As much as the heap has room for.
  public static PayloadMemory forThisJvm() {
    return new PayloadMemory(Runtime.getRuntime().maxMemory() / GROWTH);
  }

  /// One request's share, which the request closes. A hook that it has left behind may still ask for some.
  final class Share implements AutoCloseable {
    private int held;
    private boolean closed;

    /// Waits until there is room for `bytes`. A payload larger than everything there is waits to be alone.
    ///
    /// @throws ServingException [ErrorType#OVERLOADED] when there is none before the deadline
    void take(long bytes, long deadlineNanos) {
      int wanted = (int) Math.min(all, bytes / UNIT) - held;
      if (wanted <= 0) {
        return;
      }
      try {
        if (!units.tryAcquire(wanted, deadlineNanos - System.nanoTime(), TimeUnit.NANOSECONDS)) {
          throw new ServingException(ErrorType.OVERLOADED,
              "there was no memory for a body of %d bytes beside those of other requests; try again later".formatted(bytes));
        }
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
        throw new ServingException(ErrorType.NOT_READY, "the server is stopping", e);
      }
      keep(wanted);
    }

    private synchronized void keep(int taken) {
      if (closed) {
        units.release(taken);
        throw new ServingException(ErrorType.DEADLINE_EXCEEDED, "the request has ended");
      }
      held += taken;
    }

    @Override
    public synchronized void close() {
      closed = true;
      units.release(held);
    }
  }
}
