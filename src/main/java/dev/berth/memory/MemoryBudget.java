package dev.berth.memory;

import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Optional;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.LongSupplier;

/// Bytes that threads share out among themselves. All shares together never hold more than there is.
///
/// A share larger than the budget waits until it is alone. Threads that wait are served in order of arrival. The methods
/// `try…` never wait: they take what is free, even while others wait. So a large share that does not fit yet delays no
/// small ones.
///
/// A share that waits to grow goes before those that wait to begin, because these may wait for its end. Two shares that
/// wait to grow can block each other until the deadline of one.
public final class MemoryBudget {

  /// Some 146 years, in nanoseconds.
  private static final long NEVER = Long.MAX_VALUE / 2;

  private final long all;
  private final LongSupplier clock;
  private final ReentrantLock lock = new ReentrantLock();
  private final Deque<MemoryShare> beginning = new ArrayDeque<>();
  private final Deque<MemoryShare> growing = new ArrayDeque<>();
  private long free;

  /// A budget whose deadlines are those of [System#nanoTime].
  public MemoryBudget(long bytes) {
    this(bytes, System::nanoTime);
  }

  /// @param clock nanoseconds, by which deadlines are given
  public MemoryBudget(long bytes, LongSupplier clock) {
    if (bytes < 1) {
      throw new IllegalArgumentException("bytes: found %d, expected at least 1".formatted(bytes));
    }
    this.all = bytes;
    this.free = bytes;
    this.clock = clock;
  }

  /// The size of the whole budget.
  public long bytes() {
    return all;
  }

  /// Takes a share at once, or nothing where too little is free.
  public Optional<MemoryShare> tryTake(long bytes) {
    var share = new MemoryShare(this);
    return share.tryGrowTo(bytes) ? Optional.of(share) : Optional.empty();
  }

  /// Waits for a share.
  public MemoryShare take(long bytes) throws InterruptedException {
    return take(bytes, clock.getAsLong() + NEVER).orElseThrow();
  }

  /// Waits for a share until the deadline; nothing where none came free before.
  public Optional<MemoryShare> take(long bytes, long deadlineNanos) throws InterruptedException {
    var share = new MemoryShare(this);
    return share.growTo(bytes, deadlineNanos) ? Optional.of(share) : Optional.empty();
  }

  /// How many threads wait, for tests.
  int waiting() {
    lock.lock();
    try {
      return beginning.size() + growing.size();
    } finally {
      lock.unlock();
    }
  }

  Condition newCondition() {
    return lock.newCondition();
  }

  boolean tryGrow(MemoryShare share, long bytes) {
    lock.lock();
    try {
      return takeNow(share, bytes);
    } finally {
      lock.unlock();
    }
  }

  boolean grow(MemoryShare share, long bytes, long deadlineNanos) throws InterruptedException {
    lock.lockInterruptibly();
    try {
      if (share.held > 0 && share.held >= Math.min(bytes, all)) {
        return true;
      }
      var line = share.held > 0 ? growing : beginning;
      line.add(share);
      try {
        while (next() != share || !takeNow(share, bytes)) {
          long left = deadlineNanos - clock.getAsLong();
          if (share.closed || left <= 0) {
            return false;
          }
          share.turn.awaitNanos(left);
        }
        return true;
      } finally {
        line.remove(share);
        callNext();
      }
    } finally {
      lock.unlock();
    }
  }

  void shrink(MemoryShare share, long bytes) {
    lock.lock();
    try {
      long kept = Math.min(share.held, bytes);
      free += share.held - kept;
      share.held = kept;
      callNext();
    } finally {
      lock.unlock();
    }
  }

  void close(MemoryShare share) {
    lock.lock();
    try {
      share.closed = true;
      share.turn.signal();
      shrink(share, 0);
    } finally {
      lock.unlock();
    }
  }

  private boolean takeNow(MemoryShare share, long bytes) {
    long more = Math.max(Math.min(bytes, all) - share.held, 0);
    if (share.closed || more > free) {
      return false;
    }
    free -= more;
    share.held += more;
    return true;
  }

  /// The share whose turn it is; null for none.
  private MemoryShare next() {
    return growing.isEmpty() ? beginning.peek() : growing.peek();
  }

  private void callNext() {
    var next = next();
    if (next != null) {
      next.turn.signal();
    }
  }
}
