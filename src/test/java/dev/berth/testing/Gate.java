package dev.berth.testing;

import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

/// A gate that a hook waits at until the test opens it, and that tells the test when a hook has
/// come.
public final class Gate {

  private static final Duration LONGEST = Duration.ofMinutes(5);

  private final CountDownLatch arrived;
  private final CountDownLatch open = new CountDownLatch(1);

  /// @param visitors how many must come for [#awaitArrival]
  public Gate(int visitors) {
    this.arrived = new CountDownLatch(visitors);
  }

  public void pass() throws InterruptedException {
    arrived.countDown();
    await(open, "the test never opened the gate");
  }

  public void awaitArrival() throws InterruptedException {
    await(arrived, "no hook came to the gate");
  }

  public void open() {
    open.countDown();
  }

  private static void await(CountDownLatch latch, String failure) throws InterruptedException {
    if (!latch.await(LONGEST.toSeconds(), TimeUnit.SECONDS)) {
      throw new IllegalStateException(failure);
    }
  }
}
