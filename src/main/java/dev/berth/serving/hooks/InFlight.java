package dev.berth.serving.hooks;

import java.time.Duration;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.BooleanSupplier;

/// Counts those who are inside, so that a server that stops can wait for them: requests with their
/// bodies and their predictions, or hooks. May be entered and left by any thread.
public final class InFlight {

  private final ReentrantLock lock = new ReentrantLock();
  private final Condition none = lock.newCondition();
  private int inside;

  public void enter() {
    lock.lock();
    try {
      inside++;
    } finally {
      lock.unlock();
    }
  }

  public void leave() {
    lock.lock();
    try {
      inside--;
      if (inside == 0) {
        none.signalAll();
      }
    } finally {
      lock.unlock();
    }
  }

  /// Does something while no request is inside and none can enter.
  ///
  /// @return what that says; false where somebody is inside
  public boolean ifNone(BooleanSupplier action) {
    lock.lock();
    try {
      return inside == 0 && action.getAsBoolean();
    } finally {
      lock.unlock();
    }
  }

  /// Waits until no request is inside; false: the time is over.
  public boolean awaitNone(Duration time) throws InterruptedException {
    lock.lock();
    try {
      long left = time.toNanos();
      while (inside > 0 && left > 0) {
        left = none.awaitNanos(left);
      }
      return inside == 0;
    } finally {
      lock.unlock();
    }
  }
}
