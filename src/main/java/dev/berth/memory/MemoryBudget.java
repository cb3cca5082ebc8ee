package dev.berth.memory;

import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.LongSupplier;

/// Bytes that threads share out among themselves. All shares together never hold more than there
/// is.
///
/// A share larger than the budget waits until it is alone. Threads that wait are served in order of
/// arrival. The methods `try…` never wait: they take what is free, even while others wait. So a
/// large share that does not fit yet delays no small ones.
///
/// A share that waits to grow goes before those that wait to begin, because these may wait for its
/// end.
public final class MemoryBudget {

  /// Some 146 years, in nanoseconds.
  private static final long NEVER = Long.MAX_VALUE / 2;

  private final long all;
  final LongSupplier clock;
  final ReentrantLock lock = new ReentrantLock();

  /// These lines and all that follows are guarded by the lock.
  final Deque<MemoryShare> beginning = new ArrayDeque<>();

  final Deque<MemoryShare> growing = new ArrayDeque<>();

  /// What the shares of one model hold together.
  final Map<Object, Long> ofModels = new HashMap<>();

  long free;

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

  /// A share that holds nothing yet.
  public MemoryShare share() {
    return new MemoryShare(this);
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

  /// Whether threads wait.
  public boolean isWanted() {
    return waiting() > 0;
  }

  /// How many threads wait.
  int waiting() {
    lock.lock();
    try {
      return beginning.size() + growing.size();
    } finally {
      lock.unlock();
    }
  }

  /// The share whose turn it is; null for none.
  MemoryShare next() {
    return growing.isEmpty() ? beginning.peek() : growing.peek();
  }

  void callNext() {
    var next = next();
    if (next != null) {
      next.turn.signal();
    }
  }
}
