package dev.berth.http;

import io.javalin.http.Context;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;

/// Keeps callers who come again at once, whatever `Retry-After` says, from taking the cores that
/// the model needs.
///
/// A refusal costs far less than an answer, but comes back as soon as it has been read: sixteen
/// such callers got 2,500 of them a second, and the model was left a fifth of its cores, for as
/// long as they went on. So a refusal is sent at once, and where there are more of them than the
/// server can spare, its connection is not read again for a while. Used by many threads.
final class RefusalPace {

  private static final String REFUSED = "berth.refused";

  /// Of each core. To refuse takes about a thousandth of a second.
  private static final int PER_SECOND = 100;

  /// So many more may come together.
  private static final int BURST = 20;

  /// What `Retry-After` says.
  private static final long LONGEST_NANOS = TimeUnit.SECONDS.toNanos(1);

  private final long interval;
  private final LongSupplier clock;

  /// When the next refusal is due.
  private long next;

  /// @param clock in nanoseconds
  RefusalPace(int cores, LongSupplier clock) {
    this.interval = TimeUnit.SECONDS.toNanos(1) / ((long) PER_SECOND * cores);
    this.clock = clock;
    this.next = clock.getAsLong() - BURST * interval;
  }

  /// Says that the request is refused because there is no room for it.
  static void refused(Context ctx) {
    ctx.attribute(REFUSED, true);
  }

  /// Runs when everything else is done with a request, its answer sent.
  void hold(Context ctx) {
    if (ctx.attribute(REFUSED) != null) {
      try {
        TimeUnit.NANOSECONDS.sleep(pauseNanos());
      } catch (InterruptedException _) {
        Thread.currentThread().interrupt();
      }
    }
  }

  /// How long the connection of one more refusal should not be read.
  synchronized long pauseNanos() {
    long now = clock.getAsLong();
    next = Math.clamp(next + interval, now - BURST * interval, now + LONGEST_NANOS);
    return Math.max(0, next - now);
  }
}
