package dev.berth.model;

import java.time.Duration;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;

/// Counts the requests that are inside, so that a server that stops can wait for them: for their bodies, their hooks
/// and their predictions. Entered and left on requests' threads.
final class InFlight {

  private final ReentrantLock lock = new ReentrantLock();
  private final Condition none = lock.newCondition();
  private int requests;

  void enter() {
    lock.lock();
    requests++;
    lock.unlock();
  }

  void leave() {
    lock.lock();
    requests--;
    if (requests == 0) {
      none.signalAll();
    }
    lock.unlock();
  }

  /// Waits until nobody is inside; false: the time is over.
  boolean awaitNone(Duration time) throws InterruptedException {
    lock.lock();
    try {
      long left = time.toNanos();
      while (requests > 0 && left > 0) {
        left = none.awaitNanos(left);
      }
      return requests == 0;
    } finally {
      lock.unlock();
    }
  }
}
